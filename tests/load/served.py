"""The app served as ``python -m memora`` serves it, in a process that talks to itself.

    python -m load.served MESSAGE …

Each message is sent in a conversation of its own as soon as the app is built, without a browser. Prints one JSON line:
the ids of the turns that were acknowledged. Ends as the server ends.
"""

import json
import sys
import threading

from streamlit.web import cli

from memora.__main__ import streamlit_command
from memora.settings import load_settings
from memora.ui.session import get_app, now, user_id


def talk(messages):
    app = get_app()
    turns = []
    for message in messages:
        conversation = app.turns.create_conversation(user_id=user_id(), title="t", at=now())
        turns.append(app.runner.submit(user_id=user_id(), conversation_id=conversation.id, text=message).id)
    print(json.dumps(turns), flush=True)


def main(messages):
    threading.Thread(target=talk, args=(messages,), daemon=True).start()
    _, _, *sys.argv = streamlit_command(load_settings())
    sys.exit(cli.main())


if __name__ == "__main__":
    main(sys.argv[1:])
