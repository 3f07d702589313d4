//! Everything with a neural network, on burn: layers that are fast on a CPU, policies, PPO.
