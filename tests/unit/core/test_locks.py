"""One writer per folder."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import keyhole as kh
from keyhole._internal.output_folder import Folder

HOLD = """
import sys, time
from pathlib import Path
from keyhole._internal.output_folder import Folder
with Folder.claim(Path(sys.argv[1]), "run").lock():
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_holder_is_named_and_a_killed_one_holds_nothing(tmp_path):
    home = str(Path(kh.__file__).parents[1])
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": home}, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    folder = Folder.claim(tmp_path, "run")
    with pytest.raises(kh.ConfigError, match=f"is being written by process {process.pid}"), folder.lock():
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with folder.lock():
        assert (tmp_path / ".writer").read_text() == str(os.getpid())
        with pytest.raises(kh.ConfigError, match=f"is being written by process {os.getpid()}"), folder.lock():
            pass


def test_a_process_that_ended_is_not_said_to_hold_the_folder(tmp_path):
    """Its number may still be there, or be another process's by now, while the lock is held by a third."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = Folder.claim(tmp_path, "run")
    for text in (str(ended.pid), "process 7", "-1", "0", "", "9" * 30):
        with folder.lock():
            (tmp_path / ".writer").write_text(text)
            with pytest.raises(kh.ConfigError, match="is being written by another process; wait for it, or"):
                folder.lock().__enter__()
    assert not (tmp_path / ".writer").exists()
