// Prepares the terminal of textual-serve: the socket of this session, the place in the fragment, and no links.
"use strict";
(() => {
  const PLACE = ["f", "m"];
  const before = new URLSearchParams(location.hash.slice(1));
  const Socket = window.WebSocket;

  class SessionSocket extends Socket {
    constructor(address) {
      const wanted = new URL(address, location.origin);
      wanted.protocol = "ws:";
      for (const key of PLACE) {
        const number = before.get(key) || "";
        if (/^[0-9]{1,15}$/.test(number)) wanted.searchParams.set(key, number);
      }
      super(wanted.href);
      let isOpen = false;
      this.addEventListener("open", () => {
        isOpen = true;
        document.querySelector(".xterm-helper-textarea")?.focus();
      });
      this.addEventListener("close", () => {
        if (!isOpen) document.getElementById("why").textContent = "No session could be opened. Reload to try again.";
      });
      this.addEventListener("message", (event) => {
        if (typeof event.data !== "string") return;
        const [kind, given] = JSON.parse(event.data);
        if (kind === "place") history.replaceState(null, "", "#" + PLACE.map((key) => `${key}=${Number(given[key])}`).join("&"));
      });
    }
  }

  window.WebSocket = SessionSocket;
  window.open = () => null;
})();
