import { LivenessError } from './liveness-check.ts'
import type {
  JudgedAttempt,
  FrameCheck,
  LivenessTransport,
  SessionProgress,
} from './liveness-check.ts'
import { waitMs } from './wait.ts'

/** Where the component gets its session, and where it sends the frames. */
export type SessionSource = {
  /** The address of the service; by default that of the page. */
  readonly service: string
  /** A session that the server of the page has created. */
  readonly session: SessionWithToken | undefined
  /** An address of the page's server that creates a session for a POST request and returns it. */
  readonly sessionUrl: string | undefined
  /** Whether single frames are checked while the person moves, also without requested angles. */
  readonly isGuided: boolean
}

/** A session as the service returns it, or only its id and its token. */
export type SessionWithToken = Partial<Omit<SessionProgress, 'sessionId'>> & {
  readonly sessionId: string
  readonly sessionToken: string | null
}

type Credential = { readonly sessionId: string; readonly token: string }
type FramesResponse = JudgedAttempt &
  FrameCheck & { readonly isJudged: boolean; readonly detail: string | null }

/** Seconds: a longer wait is a failure that the person reads. The rate limit of a project ends earlier. */
const retryAfterSMax = 5

/** Sends the frames from the browser to the service, with the token of the session. */
export function createSessionTransport(source: SessionSource): LivenessTransport {
  let credential: Credential | undefined
  let { isGuided } = source
  const send = async (action: string, frames: readonly Blob[], signal: AbortSignal) => {
    if (!credential) throw new Error('the session was not opened')
    const sent = { service: source.service, credential, action, frames, signal }
    for (;;) {
      const { body, retryAfterS } = await sendFrames(sent)
      if (retryAfterS === 0 || retryAfterS > retryAfterSMax) return body
      await waitMs(retryAfterS * 1000, signal)
    }
  }
  const checkFrame = async (frame: Blob, signal: AbortSignal): Promise<FrameCheck | undefined> => {
    const { face, causes, detail } = await send('svc.analyze', [frame], signal)
    return face || causes.length > 0 || detail === null ? { face, causes } : undefined
  }
  return {
    canReopen: source.sessionUrl !== undefined,
    open: async (signal) => {
      const opened = await openSession(source, signal)
      credential = opened.credential
      // A call without an image is refused, does not spend the attempt, and returns the state.
      const state = opened.state ?? (await send('svc.liveness', [], signal))
      // An angle cannot be shown without guidance.
      isGuided ||= state.angles.length > 0
      return state
    },
    sendFrames: async (_session, frames, signal) => {
      const result = await send('svc.liveness', frames, signal)
      if (result.isJudged || result.state !== 'open') return result
      throw new LivenessError('serverFailed', { cause: new Error(result.detail ?? 'not judged') })
    },
    get checkFrame() {
      return isGuided ? checkFrame : undefined
    },
  }
}

async function openSession(
  { session, sessionUrl }: SessionSource,
  signal: AbortSignal,
): Promise<{ readonly credential: Credential; readonly state: SessionProgress | undefined }> {
  const created = sessionUrl === undefined ? session : await createSession(sessionUrl, signal)
  const { sessionId, sessionToken } = created ?? {}
  if (!created || !sessionId || !sessionToken)
    throw new Error(
      'facegate-liveness needs a session with a token: set session-url, or session and token. A project without origins has no tokens: facegate project set --liveness-origins.',
    )
  const credential = { sessionId, token: sessionToken }
  return { credential, state: hasState(created) ? created : undefined }
}

async function createSession(url: string, signal: AbortSignal): Promise<SessionWithToken> {
  const response = await fetch(url, { method: 'POST', signal })
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return (await response.json()) as SessionWithToken
}

function hasState(session: SessionWithToken): session is SessionWithToken & SessionProgress {
  const { steps, angles, framesMax } = session
  return steps !== undefined && angles !== undefined && framesMax !== undefined
}

type SentFrames = {
  readonly service: string
  readonly credential: Credential
  readonly action: string
  readonly frames: readonly Blob[]
  readonly signal: AbortSignal
}

/** @returns `retryAfterS` above 0 at a rate limit. */
async function sendFrames(
  sent: SentFrames,
): Promise<{ readonly body: FramesResponse; readonly retryAfterS: number }> {
  const { service, credential, action, signal } = sent
  const images = await Promise.all(
    sent.frames.map(async (frame) => ({
      kind: 'image',
      contentType: 'image/jpeg',
      bytes: await toBase64(frame),
    })),
  )
  const path = `/v1/liveness/sessions/${encodeURIComponent(credential.sessionId)}/frames`
  const response = await fetch(service.replace(/\/+$/u, '') + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-token': credential.token },
    body: JSON.stringify({ action, requestId: crypto.randomUUID(), params: { images } }),
    signal,
  })
  const body = (await response.json()) as Partial<FramesResponse>
  // At a rate limit, the state of the session is in the response.
  if (isFramesResponse(body))
    return { body, retryAfterS: Number(response.headers.get('retry-after') ?? 0) }
  throw new Error(`the service returned ${response.status}: ${body.detail ?? ''}`)
}

function isFramesResponse(body: Partial<FramesResponse>): body is FramesResponse {
  return body.isJudged !== undefined
}

/** Encodes a file; a data URL has no limit of arguments, and is faster than loops. */
function toBase64(frame: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => {
      const url = typeof reader.result === 'string' ? reader.result : ''
      resolve(url.slice(url.indexOf(',') + 1))
    })
    reader.addEventListener('error', () => reject(reader.error ?? new Error('unreadable')))
    reader.readAsDataURL(frame)
  })
}
