# idiom: a nemo_run script that starts the training file
# outside: nemo_run
# run: train.py
import nemo_run as run


def main():
    run.run(run.Script("train.py"), executor=run.LocalExecutor())


if __name__ == "__main__":
    main()
