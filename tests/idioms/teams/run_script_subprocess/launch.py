import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    worker = Path(__file__).parent / "worker.py"
    subprocess.run([sys.executable, str(worker), "--fsdp"], check=True)
