# idiom: a launcher that writes a batch script and starts the training file in it
# run: train.py
import subprocess


def main():
    command = ["sbatch", "--wrap", "torchrun train.py --strategy optim_grads"]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
