#!/bin/bash
source scripts/env.sh
PYTHONPATH=src torchrun --nproc-per-node 8 train.py --fsdp --pp $PP
