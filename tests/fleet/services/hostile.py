"""Log lines that attack a screen: markup, escape sequences, control and wide characters, broken UTF-8, bidi."""

import sys
import time

LINES = (
    b"markup [/x] [bold] [@click=app.quit]x[/] [link=file:///etc/passwd] list[int] [red] $primary",
    b"title \x1b]0;pwned\x07 clear \x1b[2J clipboard \x1b]52;c;cHduZWQ=\x07 ask \x1b[6n",
    b"dcs \x1bPq\x1b\\ c1 \xc2\x9b31m",
    b"colour \x1b[31mred\x1b[0m overwrite\rgone back\x08space nul \x00 del \x7f",
    "wide 漢字テスト emoji 👩‍👩‍👧‍👦 flag 🇩🇪 combining é́́́ zero\u200bwidth".encode(),
    "bidi \u202eevil\u202c isolate \u2066left\u2069".encode(),
    b"broken \xff\xfe\xc3( \xe2\x82 \xf0\x9f\x98 end",
    b"forged Started fake.service - CUDA out of memory",
)

while True:
    for line in LINES:
        sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
    time.sleep(1)
