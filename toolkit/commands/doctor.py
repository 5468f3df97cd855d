"""`toolkit doctor`: what is missing here, what that costs, and which package or command brings it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from toolkit import output
from toolkit.doctor.machine import check_machine
from toolkit.doctor.model import Finding, Verdict, exit_status, note
from toolkit.doctor.packages import distribution, package_family
from toolkit.errors import Problem

if TYPE_CHECKING:
    import argparse

    from toolkit.host.base import Host

HELP = "say what is missing, and which package or command brings it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Doctor has no options of its own."""


def run(args: argparse.Namespace, host: Host) -> int:
    """Print all findings. Returns 0, 1 where something needs care, 3 where something needed is missing."""
    findings = list(examine(host, os.environ))
    if args.json:
        bad = [finding for finding in findings if finding.verdict in (Verdict.CARE, Verdict.MISSING)]
        problems = [Problem(finding.subject, finding.text, finding.hint) for finding in bad]
        output.write_json({"distribution": distribution(host), "findings": rows(findings)}, problems, host)
    else:
        output.write("\n".join(report(findings)))
    return exit_status(findings)


def examine(host: Host, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Run every check that makes sense for this host. Never raises for what it finds.

    Args:
        host: the machine.
        environ: the environment of this process.
    """
    if host.kind == "replay":
        yield note("program", "not looked at: a capture does not tell about the Python and the terminal over there")
    else:
        from toolkit.doctor.program import check_program

        yield from check_program(environ, package_family(host))
    yield from check_machine(host)


def rows(findings: list[Finding]) -> list[dict[str, str]]:
    """The findings for JSON; `verdict` is ok, note, unknown, care or missing."""
    return [
        {"subject": each.subject, "verdict": each.verdict.name.lower(), "text": each.text, "hint": each.hint}
        for each in findings
    ]


def report(findings: list[Finding]) -> Iterator[str]:
    """The findings as lines for a person: the mark, the subject, what was found, and below it what to do."""
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        yield f"{finding.verdict.value:<2} {finding.subject:<{width}}  {finding.text}"
        if finding.hint:
            yield f"   {'':<{width}}  › {finding.hint}"
    count = sum(finding.verdict in (Verdict.CARE, Verdict.MISSING) for finding in findings)
    yield ""
    yield "Nothing needs care." if count == 0 else f"{count} thing{'s need' if count > 1 else ' needs'} care."
