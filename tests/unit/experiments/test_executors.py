"""Dask: no port that nobody asked for, and certificates where the cluster wants them."""

import http.client
import shutil
import subprocess
import urllib.request

import psutil
import pytest

import keyhole as kh
from keyhole.experiments.executors import Executor

pytestmark = pytest.mark.slow


def doubled(n):
    return 2 * n


def listening():
    """The addresses at which this process and its children listen."""
    here = psutil.Process()
    found = [
        c.laddr
        for p in (here, *here.children(recursive=True))
        for c in p.net_connections("tcp")
        if c.status == "LISTEN"
    ]
    return {(a.ip, a.port) for a in found}


def serves_a_page(host, port):
    """Whether Dask's dashboard is there."""
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/status", timeout=2) as answer:
            return answer.status == 200
    except (OSError, http.client.HTTPException):
        return False


def test_a_cluster_of_its_own_opens_no_dashboard_and_listens_to_this_machine_only():
    before = listening()
    during, answers, outcomes = set(), [], {}
    for job, outcome in Executor("dask", 1).run([1, 2, 3], doubled):
        during |= listening() - before
        answers = answers or [serves_a_page(*address) for address in during]
        outcomes[job] = outcome
    assert outcomes == {1: 2, 2: 4, 3: 6}
    assert {ip for ip, _ in during} <= {"127.0.0.1", "::1"}
    assert not any(answers)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificates with openssl")
def test_a_cluster_with_certificates_is_worked_with_and_one_without_them_is_one_sentence(tmp_path):
    dask = pytest.importorskip("dask")
    from distributed import LocalCluster
    from distributed.security import Security

    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    subprocess.run([*command, "-keyout", key, "-out", cert, *subject], check=True, capture_output=True)
    names = {
        f"tls_{who}_{what}": str(file)
        for who in ("client", "scheduler", "worker")
        for what, file in (("cert", cert), ("key", key))
    }
    security = Security(tls_ca_file=str(cert), require_encryption=True, **names)
    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, security=security, protocol="tls"
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        tls = {"distributed.comm.tls.ca-file": str(cert), "distributed.comm.require-encryption": True}
        tls |= {"distributed.comm.tls.client.cert": str(cert), "distributed.comm.tls.client.key": str(key)}
        with dask.config.set(tls):
            assert dict(Executor.parse(f"dask={address}", 1).run([1, 2], doubled)) == {1: 2, 2: 4}
        with pytest.raises(kh.ConfigError, match="needs certificates"):
            dict(Executor.parse(f"dask={address}", 1).run([1], doubled))
