import type { LivenessTransport } from './liveness-check.ts'
import { defaultTimes, type RecordingTimes } from './record-frames.ts'
import { runSession } from './run-session.ts'
import {
  createSessionTransport,
  type SessionWithToken,
  type SessionSource,
} from './session-transport.ts'
import { mergeTexts, type ReplacedTexts } from './texts.ts'
import { createView } from './view.ts'

/** Node has no elements: the module can be imported there, for example to render pages. */
const ElementBase: typeof HTMLElement = globalThis.HTMLElement ?? Object

const elementName = 'facegate-liveness'

/**
 * `<facegate-liveness>`: shows the camera, guides a person through a liveness session and sends the
 * frames to the service. Events: `passed`, `failed` and `error`, see `LivenessEvents`.
 */
export class FacegateLiveness extends ElementBase {
  static readonly observedAttributes = ['session', 'token', 'service', 'session-url', 'texts']

  #session: SessionWithToken | undefined
  #texts: ReplacedTexts = {}
  #times: Partial<RecordingTimes> = {}
  #transport: LivenessTransport | undefined
  #run: AbortController | undefined
  #isRestarting = false

  /** A session as the server has created it, in place of the attributes `session` and `token`. */
  set session(session: SessionWithToken) {
    this.#session = session
    this.#restart()
  }

  /** Replaces English texts. */
  set texts(texts: ReplacedTexts) {
    this.#texts = texts
    this.#restart()
  }

  /** Replaces the times of the recording. */
  set times(times: Partial<RecordingTimes>) {
    this.#times = times
    this.#restart()
  }

  /** Replaces the requests of the component, for example to send the frames to another server. */
  set transport(transport: LivenessTransport) {
    this.#transport = transport
    this.#restart()
  }

  connectedCallback(): void {
    this.#start()
  }

  disconnectedCallback(): void {
    this.#run?.abort()
  }

  attributeChangedCallback(): void {
    this.#restart()
  }

  /** Shows the introduction again, for the next person. */
  reset(): void {
    this.#restart()
  }

  /** Several changes at once restart the component once. */
  #restart(): void {
    if (!this.isConnected || this.#isRestarting) return
    this.#isRestarting = true
    queueMicrotask(() => {
      this.#isRestarting = false
      if (this.isConnected) this.#start()
    })
  }

  #start(): void {
    this.#run?.abort()
    const run = new AbortController()
    this.#run = run
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    const view = createView(root, this.#readTexts())
    runSession({
      view,
      transport: this.#transport ?? createSessionTransport(this.#source()),
      times: { ...defaultTimes, ...this.#times },
      emit: (name, detail) => this.dispatchEvent(new CustomEvent(name, { detail })),
      signal: run.signal,
    }).catch((error: unknown) => {
      if (!run.signal.aborted) reportError(error)
    })
  }

  #source(): SessionSource {
    const read = (name: string): string | undefined => this.getAttribute(name) ?? undefined
    const [sessionId, token] = [read('session'), read('token')]
    return {
      service: read('service') ?? '',
      session:
        this.#session ?? (sessionId && token ? { sessionId, sessionToken: token } : undefined),
      sessionUrl: read('session-url'),
      isGuided: this.hasAttribute('guided'),
    }
  }

  /** @throws SyntaxError if the attribute is not JSON. */
  #readTexts() {
    const attribute = this.getAttribute('texts')
    const sent = attribute === null ? {} : (JSON.parse(attribute) as ReplacedTexts)
    return mergeTexts(sent, this.#texts)
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'facegate-liveness': FacegateLiveness
  }
}

if (globalThis.customElements && !customElements.get(elementName))
  customElements.define(elementName, FacegateLiveness)
