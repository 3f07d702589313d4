"""Plays actions with Gymnasium's AtariPreprocessing and writes every frame.

    python reference_frames.py GAME NOOPS ACTIONS > frames

The no-ops are raw frames, and FIRE and the third action follow where there is FIRE, as brex begins an
episode. It stops before the step that ends the game. Each frame is 84 x 84 bytes.
"""
import sys

try:
    import ale_py
    import cv2
    import gymnasium
    from gymnasium.wrappers import AtariPreprocessing
except ImportError as error:
    sys.exit("missing: %s" % error)

game, noops, actions = sys.argv[1], int(sys.argv[2]), sys.argv[3]
gymnasium.register_envs(ale_py)
raw = gymnasium.make(
    "ALE/%s-v5" % game, frameskip=1, repeat_action_probability=0.0, full_action_space=False
).unwrapped
raw.ale.setInt("random_seed", 1)
raw.load_game()
env = AtariPreprocessing(raw, noop_max=0, frame_skip=4, screen_size=84)
env.reset()
for _ in range(noops):
    raw.step(0)
if "FIRE" in raw.get_action_meanings():
    env.step(1)
    frame = env.step(2)[0]
else:
    # The wrapper offers no picture without a step.
    frame = cv2.resize(raw.ale.getScreenGrayscale(), (84, 84), interpolation=cv2.INTER_AREA)
out = sys.stdout.buffer
out.write(frame.tobytes())
for letter in actions:
    frame, _, terminated, _, _ = env.step(ord(letter) - ord("a"))
    if terminated:
        break
    out.write(frame.tobytes())
