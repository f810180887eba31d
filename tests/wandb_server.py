"""A stand-in for the server of Weights & Biases on this machine: what wandb's own reader makes of an offline run."""

import gzip
import json
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

KEY = "a" * 40


@dataclass
class Run:
    """What the server was told of a run; `told` are its fields, `history` its lines, `files` what was uploaded."""

    told: dict = field(default_factory=dict)
    history: list = field(default_factory=list)
    summary: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)

    @property
    def config(self):
        return {key: value["value"] for key, value in json.loads(self.told["config"]).items()}


class Server(ThreadingHTTPServer):
    """`runs` by id, while it serves; `url` is what `WANDB_BASE_URL` is to be."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url, self.runs = f"http://127.0.0.1:{self.server_port}", defaultdict(Run)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        answer = {}
        if self.path == "/graphql":
            asked = json.loads(body)
            answer = {"data": getattr(self, asked["operationName"], lambda _: {})(asked.get("variables", {}))}
        elif self.path.endswith("/file_stream"):
            self._stream(self.server.runs[self.path.split("/")[4]], json.loads(body).get("files", {}))
        elif self.path.startswith("/put/"):
            _, _, run, name = self.path.split("/", 3)
            self.server.runs[run].files[unquote(name)] = body
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_POST

    def UpsertBucket(self, told):
        self.server.runs[told["name"]].told |= {key: value for key, value in told.items() if value is not None}
        entity = told["entity"] or "me"
        project = {"id": "UA==", "name": told["project"], "entity": {"id": "RQ==", "name": entity}}
        bucket = {"id": "QQ==", "name": told["name"], "displayName": told["displayName"], "project": project}
        return {"upsertBucket": {"bucket": bucket | {"config": "{}", "historyLineCount": 0}, "inserted": True}}

    def CreateRunFiles(self, told):
        files = [{"name": name, "uploadUrl": f"{self.server.url}/put/{told['run']}/{quote(name)}"} for name in told["files"]]
        return {"createRunFiles": {"runID": "QQ==", "uploadHeaders": [], "files": files}}

    def Viewer(self, _):
        return {"viewer": {"id": "V", "entity": "me", "username": "me", "teams": {"edges": []}, "flags": "{}"}}

    def ServerFeaturesQuery(self, _):
        return {"serverInfo": {"features": []}}

    def CreateArtifact(self, _):
        return {
            "createArtifact": {"artifact": {"id": "QQ==", "state": "COMMITTED", "artifactSequence": {"latestArtifact": None}}}
        }

    def RunResumeStatus(self, _):
        return {"model": None}

    def _stream(self, run, files):
        lines = files.get("wandb-history.jsonl", {"offset": 0, "content": []})
        run.history[lines["offset"] :] = map(json.loads, lines["content"]) if lines["content"] else run.history[lines["offset"] :]
        for line in files.get("wandb-summary.json", {"content": []})["content"]:
            run.summary = json.loads(line)
