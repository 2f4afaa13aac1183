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


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process is not named: there is no /proc")


@needs_proc
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
    own = f"is being written by process {os.getpid()}"
    with folder.lock(), pytest.raises(kh.ConfigError, match=own), folder.lock():
        pass


def test_a_process_that_ended_is_not_said_to_hold_the_folder(tmp_path):
    """Its number may still be there while the lock is held by another process."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = Folder.claim(tmp_path, "run")
    for text in (str(ended.pid), f"{ended.pid} 1", f"{ended.pid} 0", "process 7", "-1 -1", "0 0", "", "9" * 5000):
        with folder.lock():
            (tmp_path / ".writer").write_text(text)
            with pytest.raises(kh.ConfigError, match="is being written by another process; wait for it, or"):
                folder.lock().__enter__()
    assert not (tmp_path / ".writer").exists()


@needs_proc
def test_a_process_that_got_the_number_of_another_is_not_named(tmp_path):
    """The writer was killed, and a process that started later has its number; a user must not be told to stop that."""
    folder = Folder.claim(tmp_path, "run")
    with folder.lock():
        pid, start = map(int, (tmp_path / ".writer").read_text().split())
        assert pid == os.getpid()
        for text, named in ((f"{pid} {start}", True), (f"{pid} {start - 1}", False), (f"{pid} {start + 1}", False)):
            (tmp_path / ".writer").write_text(text)
            with pytest.raises(kh.ConfigError) as fault:
                folder.lock().__enter__()
            assert (f"by process {pid}; wait for it, stop it" in str(fault.value)) is named


@needs_proc
def test_a_killed_process_that_nobody_waited_for_is_not_named(tmp_path):
    """Until its parent asks for its end, a killed process keeps its number, but no lock."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    stat = Path(f"/proc/{child.pid}/stat")
    start = stat.read_text().rpartition(")")[2].split()[19]
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    folder = Folder.claim(tmp_path, "run")
    with folder.lock():
        (tmp_path / ".writer").write_text(f"{child.pid} {start}")
        with pytest.raises(kh.ConfigError, match="is being written by another process"):
            folder.lock().__enter__()
    child.communicate()
