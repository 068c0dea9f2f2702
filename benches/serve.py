#!/usr/bin/env python3
"""Compares laneflate with Debian's nginx, side by side in one run, and prints the tables.

Both servers run one worker on CPU 0, the clients run on CPU 1. The rounds of a case are interleaved and alternate in
order; a ratio is taken within each round, and the table shows the median of the ratios with their spread, so that
noise that lasts longer than a round cancels out.

    cargo build --release && benches/serve.py
    benches/serve.py --seconds 5 --rounds 9 --case 'gzip|memory'

nginx runs with open_file_cache, sendfile and tcp_nopush on and without an access log. Nothing but the Python library
is needed beside nginx, wrk, ab and h2load (Debian: nginx wrk apache2-utils nghttp2-client).
"""

import argparse
import atexit
import gzip
import http.client
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SERVER_CPU, CLIENT_CPU = "0", "1"
IDLE = 10_000
PAGE = "/9k/html-05-sqlite-expridx.html"
GZIP = "Accept-Encoding: gzip"

NGINX = """
daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid {folder}/pid;
error_log {folder}/error.log;
{user}
events {{ worker_connections {connections}; }}
http {{
    include {types};
    default_type application/octet-stream;
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=1000 inactive=60s;
    open_file_cache_valid 60s;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {gzip}
    server {{
        listen 127.0.0.1:{port} backlog=8192;
        root {root};
    }}
}}
"""


@dataclass
class Case:
    """One row of the table of speed."""

    name: str
    path: str
    need: float | None = None
    fields: tuple = ()
    flags: tuple = ()
    gzip: bool = False


CASES = [
    Case("0kb.bin, keep-alive", "/0kb.bin", 1.10),
    Case("9 KB page, identity", PAGE, 1.10),
    Case("9 KB page, identity, Connection: close", PAGE, 1.0, ("Connection: close",)),
    Case("1M.bin, identity", "/1M.bin", 1.0),
    Case("9 KB page, gzip, coded once, nginx level 1", PAGE, 6.0, (GZIP,), gzip=True),
    Case(
        "9 KB page, gzip, coded anew, level 1 of both", PAGE, 3.0, (GZIP,),
        ("--compress-store", "off", "--gzip-level", "1"), gzip=True,
    ),
]


class Server:
    """A server as a process; `with` ends it."""

    def __init__(self, command, port):
        self.port = port
        self.process = subprocess.Popen(
            ["taskset", "-c", SERVER_CPU, *command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        atexit.register(self.stop)
        end = time.monotonic() + 10
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.stop()
        sys.exit(f"{command[0]} does not listen on port {port}:\n{self.process.stderr.read()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def get(self, path, fields=()):
        """Status, fields and body of one request."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        client.request("GET", path, headers=dict(field.split(": ", 1) for field in fields))
        response = client.getresponse()
        body = response.read()
        client.close()
        return response.status, response.headers, body

    def memory(self):
        """Resident and proportional set size, in bytes, of the process and its children."""
        sums = {"Rss": 0, "Pss": 0}
        for pid in [self.process.pid, *children(self.process.pid)]:
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in sums:
                    sums[name] += int(value.split()[0]) * 1024
        return sums


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Bench:
    """The two servers and the tools, as the command line has them."""

    def __init__(self, options):
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="laneflate-bench-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)

    def nginx(self, with_gzip=False):
        port, folder = free_port(), Path(tempfile.mkdtemp(dir=self.folder))
        config = folder / "nginx.conf"
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        config.write_text(
            NGINX.format(
                port=port,
                folder=folder,
                root=self.options.root,
                files=files,
                # Each connection may hold a file beside its socket.
                connections=files - 100,
                types=self.options.mime_types,
                # As root the worker would become nobody, who may not read the files.
                user="user root;" if os.geteuid() == 0 else "",
                gzip="gzip on; gzip_comp_level 1;" if with_gzip else "",
            )
        )
        return Server(["nginx", "-c", str(config)], port)

    def laneflate(self, flags=()):
        port = free_port()
        address = f"127.0.0.1:{port}"
        command = [self.options.laneflate, "serve", self.options.root, "--listen", address, "--workers", "1"]
        # As for nginx: idle connections must outlast the measurement.
        return Server([*command, "--keepalive-timeout", "600s", *flags], port)

    def pair(self, case=None):
        case = case or Case("", "")
        return self.nginx(case.gzip), self.laneflate(case.flags)

    def speed(self, cases):
        print(f"`wrk -t1 -c64 -d{self.options.seconds}s`, {self.options.rounds} rounds\n")
        print("| case | nginx req/s | laneflate req/s | ratio, median | min to max | wanted |")
        print("|---|--:|--:|--:|--:|---|")
        notes = []
        for case in cases:
            nginx, laneflate = self.pair(case)
            with nginx, laneflate:
                notes += self.check(case, nginx, laneflate)
                row, errors = self.interleave(case, nginx, laneflate)
                print(row, flush=True)
                notes += errors
        print("\n" + "\n".join(notes) if notes else "")

    def check(self, case, nginx, laneflate):
        """Both must give the file; says how long coded bodies are."""
        original = Path(self.options.root + case.path).read_bytes()
        sizes = []
        for server in nginx, laneflate:
            status, fields, body = server.get(case.path, case.fields)
            coded = fields.get("Content-Encoding") == "gzip"
            if status != 200 or coded != case.gzip or (gzip.decompress(body) if coded else body) != original:
                sys.exit(f"{case.name}: port {server.port} gives {status}, {dict(fields)}, {len(body)} bytes")
            sizes.append(len(body))
        if not case.gzip:
            return []
        larger = "; laneflate's is LARGER" if sizes[1] > sizes[0] else ""
        return [f"{case.name}: bodies of {sizes[0]} (nginx) and {sizes[1]} bytes (laneflate){larger}"]

    def interleave(self, case, nginx, laneflate):
        rates, errors = {nginx: [], laneflate: []}, []
        for server in rates:
            self.wrk(server, case, 0.5)
        for number in range(self.options.rounds):
            order = list(rates) if number % 2 == 0 else list(rates)[::-1]
            for server in order:
                rate, error = self.wrk(server, case, self.options.seconds)
                rates[server].append(rate)
                if error:
                    errors.append(f"{case.name}: {'nginx' if server is nginx else 'laneflate'}: {error}")
        ratios = [ours / theirs for theirs, ours in zip(*rates.values())]
        ratio = statistics.median(ratios)
        wanted = "" if case.need is None else f"{case.need:.2f}: {'reached' if ratio >= case.need else 'MISSED'}"
        medians = [f"{statistics.median(rate):,.0f}" for rate in rates.values()]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        return f"| {case.name} | {' | '.join(medians)} | {ratio:.2f} | {spread} | {wanted} |", errors

    def wrk(self, server, case, seconds):
        """Requests in a second, and what went wrong."""
        # wrk takes whole seconds.
        command = ["wrk", "-t1", "-c64", f"-d{max(1, round(seconds))}s"]
        for field in case.fields:
            command += ["-H", field]
        output = client([*command, server.url(case.path)])
        rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
        if not rate:
            sys.exit(f"wrk says:\n{output}")
        wrong = re.findall(r"(?:Socket errors|Non-2xx).*", output)
        return float(rate[1]), "; ".join(wrong)

    def memory(self):
        print(f"\nMemory of {IDLE:,} idle keep-alive connections, each after one request for the 9 KB page\n")
        print("| server | empty, RSS | with connections, RSS | a connection, RSS | a connection, PSS | wanted |")
        print("|---|--:|--:|--:|--:|---|")
        for name, start in ("nginx", self.nginx), ("laneflate", self.laneflate):
            with start() as server:
                server.get(PAGE)
                before = server.memory()
                held = idle_connections(server.port)
                time.sleep(3)
                after = server.memory()
                cost = {key: (after[key] - before[key]) / IDLE for key in before}
                for connection in held:
                    connection.close()
            wanted = ""
            if name == "laneflate":
                wanted = f"10 KiB: {'reached' if cost['Rss'] < 10 * 1024 else 'MISSED'}"
            whole = [f"{size['Rss'] / 2**20:.1f} MiB" for size in (before, after)]
            each = [f"{cost[key] / 1024:.2f} KiB" for key in ("Rss", "Pss")]
            print(f"| {name} | {' | '.join(whole)} | {' | '.join(each)} | {wanted} |", flush=True)

    def crowd(self):
        print("\n`ab -c 5000 -n 100000` on the 9 KB page\n")
        print("| server | coding | failed | req/s |\n|---|---|--:|--:|")
        for coding, fields in ("identity", []), ("gzip", ["-H", GZIP]):
            servers = zip(("nginx", "laneflate"), self.pair(Case("", "", gzip=bool(fields))))
            for name, server in servers:
                with server:
                    output = client(["ab", "-q", "-r", "-c", "5000", "-n", "100000", *fields, server.url(PAGE)])
                print(f"| {name} | {coding} | {failures(output)} | {found(r'Requests per second: +([0-9.]+)', output)} |")
                sys.stdout.flush()

    def http2(self):
        print("\n`h2load -n 100000 -c 16 -m 32` on the 9 KB page over h2c, laneflate\n")
        print("| coding | failed | req/s |\n|---|--:|--:|")
        for coding, fields in ("identity", []), ("gzip", ["-H", GZIP]):
            with self.laneflate() as server:
                output = client(["h2load", "-n", "100000", "-c", "16", "-m", "32", *fields, server.url(PAGE)])
            good = int(found(r"status codes: (\d+) 2xx", output) or 0)
            done = int(found(r"(\d+) succeeded", output) or 0)
            print(f"| {coding} | {100_000 - min(good, done)} | {found(r', ([0-9.]+) req/s', output)} |", flush=True)


def client(command):
    done = subprocess.run(["taskset", "-c", CLIENT_CPU, *command], capture_output=True, text=True, timeout=600)
    return done.stdout + done.stderr


def failures(output):
    """Requests that ab counts as failed, of any kind; those that it never made count too."""
    failed = int(found(r"Failed requests: +(\d+)", output) or 0)
    other = int(found(r"Non-2xx responses: +(\d+)", output) or 0)
    missing = 100_000 - int(found(r"Complete requests: +(\d+)", output) or 0)
    return failed + other + missing


def found(pattern, text):
    match = re.search(pattern, text)
    return match[1] if match else None


def idle_connections(port):
    """Opens connections, makes one request on each, reads its response to the end, and keeps them."""
    request = f"GET {PAGE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    held = []
    for _ in range(IDLE):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.settimeout(10)
        connection.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        left = int(re.search(rb"(?i)content-length: (\d+)", head)[1]) - len(body)
        while left > 0:
            left -= len(connection.recv(65536))
        held.append(connection)
    return held


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--laneflate", default=str(HERE.parent / "target/release/laneflate"), help="the program")
    parser.add_argument("--root", default=str(HERE.parent / "www"), help="the folder served")
    parser.add_argument("--mime-types", default="/etc/nginx/mime.types", help="nginx's table of types")
    parser.add_argument("--seconds", type=int, default=3, help="length of one run of wrk")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each server in a case")
    parser.add_argument("--case", default="", help="regular expression: which rows; also memory, ab, h2load")
    return parser.parse_args()


def main():
    options = arguments()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    wanted = re.compile(options.case, re.IGNORECASE).search
    cases = [case for case in CASES if wanted(case.name)]
    bench = Bench(options)
    parts = [(bench.memory, "memory", []), (bench.crowd, "ab", ["ab"]), (bench.http2, "h2load", ["h2load"])]
    parts = [part for part in parts if wanted(part[1])]
    tools = ["taskset", "nginx", *(["wrk"] if cases else []), *(tool for part in parts for tool in part[2])]
    missing = [tool for tool in tools if not shutil.which(tool)]
    if not os.access(options.laneflate, os.X_OK):
        missing.append(f"{options.laneflate} (cargo build --release)")
    if missing:
        sys.exit("missing: " + ", ".join(missing))
    raise_limit_of_open_files()
    # So that everything registered for the end is done when the script is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if cases:
        bench.speed(cases)
    for run, _, _ in parts:
        run()


def raise_limit_of_open_files(want=65_536):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(want, hard), max(want, hard)))
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main()
