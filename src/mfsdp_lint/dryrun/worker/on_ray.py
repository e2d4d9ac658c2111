"""Driver of a Ray job: each launch has a placement group, on whose nodes torch's launcher starts the ranks.

Answers go to the log of the job, because its client sees no files of the nodes. Ray sends the functions of this file to
the nodes, which cannot import it; so they import for themselves.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

MARK = "mfsdp-lint: "
"""The begin of a line of the log that the client reads."""


def main(plan: str) -> None:
    """Run the launches of a file."""
    with open(plan, encoding="utf-8") as stream:
        launches, worker = json.load(stream)

    import ray
    from ray.util.placement_group import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy as Within

    ray.init(log_to_driver=False)
    shared, groups, going_on = ray.put(worker), [], {}
    for number, launch in enumerate(launches):
        group = placement_group([launch["needs"]] * launch["nodes"], strategy="STRICT_SPREAD")
        groups.append(group)
        needs = {"num_cpus": launch["needs"]["CPU"], "num_gpus": launch["needs"].get("GPU", 0), "max_retries": 0}
        meet = ray.remote(meeting_point).options(num_cpus=0, scheduling_strategy=Within(group, 0)).remote()
        going_on[meet] = (number, False)
        for node in range(launch["nodes"]):
            ranks = ray.remote(start_ranks).options(**needs, scheduling_strategy=Within(group, node))
            going_on[ranks.remote(launch, shared, node, meet)] = (number, True)
    while going_on:
        (ended,), _ = ray.wait(list(going_on), num_returns=1)
        number, is_answer = going_on.pop(ended)
        said = {"launch": launches[number]["name"]}
        try:
            found = ray.get(ended)
            said |= found if is_answer else {}
        except ray.exceptions.RayError as error:
            said["why"] = f"{type(error).__name__}: {error}"
        if number not in [other for other, _ in going_on.values()]:
            remove_placement_group(groups[number])
            said["ended"] = True
        print(f"{MARK}{json.dumps(said)}", flush=True)


def meeting_point() -> tuple[str, int]:
    """Return the address of this node and a port that is free there."""
    import socket

    import ray

    with socket.socket() as probe:
        probe.bind(("", 0))
        port: int = probe.getsockname()[1]
        return ray.util.get_node_ip_address(), port


def start_ranks(
    launch: Mapping[str, Any], worker: Mapping[str, str], node: int, meet: tuple[str, int]
) -> dict[str, Any]:
    """Start the ranks of a node in a folder of their own, and return their answers and the end of the log."""
    import os
    import secrets
    import subprocess
    import tempfile
    from pathlib import Path

    # The processes end with this one: it is their parent, and they have its mark.
    of_launch = {"MFSDP_LINT_DRY_RUN_PARENT": str(os.getpid()), "MFSDP_LINT_DRY_RUN": secrets.token_hex(16)}
    of_node = {"NODE": str(node), "HOST": meet[0], "PORT": str(meet[1])}
    said: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="mfsdp-dry-run-", ignore_cleanup_errors=True) as directory:
        for name, text in {"job.json": launch["job"], **worker}.items():
            path = Path(directory, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        log, answers = Path(directory, "launcher.log"), Path(directory, "answers")
        answers.mkdir()
        with log.open("wb") as output:
            try:
                subprocess.run(
                    ["bash", "-c", launch["script"]],
                    cwd=directory,
                    env={**os.environ, **of_launch, **of_node},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    timeout=launch["seconds"],
                    check=False,
                )
            except subprocess.TimeoutExpired:
                said["why"] = "it reached its time limit"
        said["files"] = {f"answers/{path.name}": path.read_text(encoding="utf-8") for path in answers.glob("*.json")}
        said["files"][f"launcher.{node}.log"] = log.read_text(errors="replace")[-launch["most"] :]
    return said


if __name__ == "__main__":
    main(sys.argv[1])
