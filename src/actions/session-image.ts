import { invalidRequest } from '../lib/errors.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import type { LivenessSessions } from '../gallery/liveness/liveness-sessions.ts'
import type { Tx } from '../store/database.ts'

/** Which image of an action the reference frame of a liveness session replaces. */
export type SessionImage = 'only' | 'first'

/** The part of the call of an action that its session image depends on. */
type SessionCall = {
  readonly params: unknown
  readonly caller: { readonly projectId: string }
  readonly services: { readonly livenessSessions: LivenessSessions }
}

/** The result of an action, of which only the presence of a value matters here. */
type SessionResult<Outcome extends object> =
  | readonly Outcome[]
  | {
      readonly effect: (tx: Tx) => Promise<readonly Outcome[]> | readonly Outcome[]
      readonly afterCommit?: (() => Promise<void>) | undefined
    }

type SentParams = { readonly livenessSessionId?: unknown; readonly images?: unknown }

/** Returns the session of a call, whose parameters may be invalid. */
function sessionIdOf({ params }: Pick<SessionCall, 'params'>): string | undefined {
  const { livenessSessionId: id } = Object(params) as SentParams
  return typeof id === 'string' && id !== '' && id.length <= 128 ? id : undefined
}

/** Returns the number of images that a session adds to those of the request. */
export function sessionImageCount(params: unknown): number {
  return sessionIdOf({ params }) === undefined ? 0 : 1
}

/**
 * Runs an action with the reference frame of a passed liveness session in place of an image. The frame
 * shows a live person, so that no other check of liveness runs, and is spent in the transaction that
 * settles the call. `check` runs before the session is read.
 *
 * @throws ActionError LIVENESS_FAILED if there is no unused frame; INVALID_REQUEST.
 */
export async function runWithSessionImage<Call extends SessionCall, Outcome extends object>(
  call: Call,
  sessionImage: SessionImage | undefined,
  check: (call: Call) => void,
  run: (call: Call) => Promise<SessionResult<Outcome>>,
): Promise<SessionResult<Outcome>> {
  const sessionId = sessionImage && sessionIdOf(call)
  if (sessionImage === undefined || sessionId === undefined) return run(call)
  check(withSessionImage(call, sessionImage))
  const { livenessSessions } = call.services
  const { projectId } = call.caller
  const frame = await livenessSessions.readFrame(projectId, sessionId)
  const result = await run(withSessionImage(call, sessionImage, frame))
  const { effect, afterCommit } =
    'effect' in result ? result : { effect: () => result, afterCommit: undefined }
  return {
    effect: async (tx) => {
      const outcomes = await effect(tx)
      if (outcomes.some((outcome) => 'value' in outcome))
        await livenessSessions.spendFrame(tx, projectId, sessionId)
      return outcomes
    },
    afterCommit,
  }
}

/** Takes the place of the frame in a call that is only checked. */
const placeholder: EncodedImage = { bytes: '', contentType: 'image/jpeg' }

/** Adds the frame to the images of a call. @throws ActionError INVALID_REQUEST. */
export function withSessionImage<Call extends SessionCall>(
  call: Call,
  sessionImage: SessionImage | undefined,
  frame: EncodedImage = placeholder,
): Call {
  if (sessionImage === undefined || sessionIdOf(call) === undefined) return call
  const { images, ...params } = Object(call.params) as SentParams & Record<string, unknown>
  if (images !== undefined && sessionImage === 'only')
    throw invalidRequest(
      'params.images: must be absent with livenessSessionId; the reference frame of the session is the image',
    )
  const others: readonly unknown[] = Array.isArray(images) ? images : []
  // Only the person who passed the session is live.
  const facePolicy = params['facePolicy'] ?? 'single'
  const alone = { facePolicy: facePolicy === 'largest' ? 'single' : facePolicy }
  const live = { ...params, ...alone, requireLiveness: false }
  return { ...call, params: { ...live, images: [{ kind: 'image', ...frame }, ...others] } }
}
