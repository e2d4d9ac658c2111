"""What a configuration's model state costs on each rank, from its settings alone: parameters, gradients, main
parameters and optimizer states. `estimate.memory` is the way in, `result` what comes out.
"""
