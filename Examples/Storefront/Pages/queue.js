// The buyer's queue, live: one stream for each visible tab, resumed where it was cut.

export class Queue extends EventTarget {
  #source;
  #last;
  #wait = 500;
  #timer;
  #isWanted = false;
  #wasLive = false;

  constructor() {
    super();
    // A browser has six connections for each server; hidden tabs leave theirs to the others.
    document.addEventListener("visibilitychange", () => this.#follow());
    addEventListener("online", () => this.#follow(true));
    addEventListener("offline", () => this.#tell("offline"));
  }

  open() {
    this.#isWanted = true;
    this.#last = undefined;
    this.#wasLive = false;
    this.#follow(true);
  }

  close() {
    this.#isWanted = false;
    this.#follow();
  }

  /** Stops reading until it is opened again, which tells everything unfinished anew. */
  pause() {
    this.close();
    this.#tell("busy");
  }

  #tell(state) {
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }

  #follow(isAnew = false) {
    clearTimeout(this.#timer);
    const isNeeded = this.#isWanted && !document.hidden;
    if (!isNeeded || isAnew) {
      this.#source?.close();
      this.#source = undefined;
    }
    if (isNeeded && !this.#source) this.#connect();
  }

  #connect() {
    // The browser itself resumes with Last-Event-ID; a stream made anew says it in the query.
    const from = this.#last ? `?lastEventID=${encodeURIComponent(this.#last)}` : "";
    const source = new EventSource(`/api/queue${from}`);
    this.#source = source;
    source.onopen = () => {
      this.#wait = 500;
      this.#tell("live");
      // Without an id to go on from, the store does not tell what was finished meanwhile.
      if (this.#wasLive && !this.#last) this.dispatchEvent(new Event("gap"));
      this.#wasLive = true;
    };
    source.onerror = () => {
      this.#tell(navigator.onLine ? "reconnecting" : "offline");
      this.dispatchEvent(new Event("cut"));
      if (source.readyState !== EventSource.CLOSED) return;
      // An answer that is no stream: browsers give up, this page does not.
      this.#source = undefined;
      this.#timer = setTimeout(() => this.#follow(), this.#wait);
      this.#wait = Math.min(this.#wait * 2, 4000);
    };
    for (const kind of ["transaction", "removed", "account", "subscription"]) {
      source.addEventListener(kind, (event) => {
        if (event.lastEventId) this.#last = event.lastEventId;
        const detail = JSON.parse(event.data);
        this.dispatchEvent(new CustomEvent(kind, { detail }));
      });
    }
  }
}
