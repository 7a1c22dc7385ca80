"""`PLACES`, the table of the folders where known agents keep their sessions."""

from __future__ import annotations

from msgspec import Struct


class Place(Struct, frozen=True):
    """Where one agent keeps its files. The first folder that exists is used. `~` is the home folder, and `$NAME` is an
    environment variable; if the variable is not set, the folder is skipped."""

    agent: str
    folders: tuple[str, ...]
    patterns: tuple[str, ...]
    """Patterns relative to the folder. `*` matches one name, `**` any number of folders."""
    archived: tuple[str, ...] = ()
    """Patterns for sessions that are listed only on request."""
    names_folder: bool = False
    """True if the first folder in the path is the working directory, with dashes in place of other characters."""
    here: bool = False
    """True if the folder is relative to the current directory."""
    stored_twice: bool = False
    """True if a session in a database may also be in a file of the same name from an earlier version."""
    ancestors: bool = False
    """True if parent folders are also searched, up to the root of the repository."""


_VS_CODE = (
    "$APPDATA/Code/User/globalStorage",
    "~/Library/Application Support/Code/User/globalStorage",
    "$XDG_CONFIG_HOME/Code/User/globalStorage",
    "~/.config/Code/User/globalStorage",
)

PLACES = (
    Place(
        "claude-code",
        ("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects", "~/.config/claude/projects"),
        ("*/*.jsonl",),
        names_folder=True,
    ),
    Place("codex", ("$CODEX_HOME", "~/.codex"), ("sessions/*/*/*/rollout-*.jsonl",), ("archived_sessions/**/*.jsonl",)),
    Place("gemini-cli", ("~/.gemini/tmp",), ("*/chats/session-*.json", "*/chats/*.jsonl")),
    Place("qwen-code", ("~/.qwen/projects",), ("*/chats/*.jsonl",), names_folder=True),
    Place(
        "opencode",
        ("$XDG_DATA_HOME/opencode", "~/.local/share/opencode"),
        ("storage/session/*/*.json", "opencode.db"),
        stored_twice=True,
    ),
    Place("openhands", ("~/.openhands/conversations",), ("*/events",)),
    Place("cursor", ("~/.cursor/projects",), ("*/agent-transcripts/**/*.jsonl",)),
    Place("copilot-cli", ("~/.copilot/session-state",), ("*/events.jsonl", "*.jsonl")),
    Place("kimi", ("~/.kimi", "~/.kimi-code"), ("sessions/*/*/wire.jsonl", "sessions/**/wire.jsonl")),
    Place(
        "pi",
        ("$PI_CODING_AGENT_DIR/sessions", "~/.pi/agent/sessions", "~/.openclaw/agents", "~/.omp/agent/sessions"),
        ("*/*.jsonl", "*/sessions/*.jsonl"),
        names_folder=True,
    ),
    Place("grok", ("~/.grok/sessions",), ("*/*/chat_history.jsonl",)),
    Place("droid", ("~/.factory/sessions",), ("*.jsonl", "*/*.jsonl")),
    Place("continue", ("$CONTINUE_GLOBAL_DIR/sessions", "~/.continue/sessions"), ("*-*.json",)),
    Place(
        "antigravity",
        ("~/.gemini/antigravity/brain", "~/.gemini/antigravity-cli/brain"),
        ("*/.system_generated/logs/transcript_full.jsonl",),
    ),
    Place("goose", ("~/.local/share/goose/sessions",), ("sessions.db", "*.jsonl"), stored_twice=True),
    Place("crush", (".crush",), ("crush.db",), here=True, ancestors=True),
    Place(
        "cline",
        _VS_CODE,
        tuple(
            f"{extension}/tasks/*/ui_messages.json"
            for extension in ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
        ),
    ),
    Place("aider", (".",), (".aider.chat.history.md",), here=True, ancestors=True),
    Place("inspect", ("$INSPECT_LOG_DIR", "logs"), ("*.eval", "*.json"), here=True),
    Place("atif", (".",), ("jobs/**/trajectory.json", "trajectory.json"), here=True),
    Place("swe-agent", ("trajectories",), ("**/*.traj",), here=True),
)
