import { calibratedServices } from '../actions/action.ts'
import type { Action, ActionResult, Caller, ItemOutcomes, Services } from '../actions/action.ts'
import type { Settlement } from '../gate/settle.ts'
import { ActionError } from '../lib/errors.ts'
import { bestDecision } from '../lib/observability/call-decision.ts'
import {
  errorEnvelope,
  outcomeEnvelope,
  storedEnvelope,
  storedIdsOf,
  withoutStoredIds,
  type Envelope,
} from './envelope.ts'
import type { ActionContent, EchoedFields } from './input/read-call.ts'
import type { RunnableCall } from './run-call.ts'

type ActionContext = {
  readonly echoed: EchoedFields
  /** The caller before its admission; the action runs for the one that was admitted. */
  readonly caller: Pick<Caller, 'projectId'>
  readonly services: Services
  readonly signal: AbortSignal
}

/**
 * Combines the content of a call with what its action needs and with the envelope of its response.
 *
 * @throws HttpError 503 if the vision workers have no room for its images.
 */
export function toRunnableCall(
  content: ActionContent,
  { echoed, caller, services, signal }: ActionContext,
): RunnableCall<ItemOutcomes, Settlement<Envelope>> {
  const { action, params, debug } = content
  assertRoom(services.vision, { action, params, projectId: caller.projectId })
  return {
    ...content,
    signal,
    run: async (admitted) => {
      const calibrated = calibratedServices(services, admitted)
      const call = { params, caller: admitted, services: calibrated, signal, debug }
      return toCallOutput(await action.run(call))
    },
    toSettlement: (outcomes) =>
      outcomes instanceof ActionError
        ? toErrorSettlement(echoed, outcomes)
        : toSettlement(echoed, action, outcomes.map(action.validate)),
  }
}

function toCallOutput(result: ActionResult) {
  return 'effect' in result ? result : { outcome: result }
}

/** Builds the response of a failed call, and its copy without the ids of deleted subjects. */
function toErrorSettlement(echoed: EchoedFields, error: ActionError) {
  const response = errorEnvelope(echoed, error)
  const subjectIds = storedIdsOf(error)
  if (subjectIds.length === 0) return { response }
  const scrubbed = { ...errorEnvelope(echoed, withoutStoredIds(error)), meta: redacted }
  return { response, subjectIds, scrubbed }
}

const redacted = { redacted: true } as const

/** Builds the response, and the scrubbed copy that replaces it once one of its subjects is deleted. */
function toSettlement(echoed: EchoedFields, action: Action, outcomes: ItemOutcomes) {
  const response = outcomeEnvelope(echoed, outcomes)
  const stored = storedEnvelope(echoed, outcomes)
  const subjectIds = outcomes.flatMap((outcome) => outcome.subjectIds ?? [])
  const scrubbed =
    subjectIds.length > 0
      ? {
          ...outcomeEnvelope(echoed, outcomes.map(action.scrub)),
          meta: redacted,
        }
      : undefined
  const unbilledImages = outcomes.reduce((sum, outcome) => sum + (outcome.unbilledImages ?? 0), 0)
  const scores = outcomes.flatMap(action.scores)
  const matches = outcomes.flatMap((outcome, resultIndex) =>
    action.matches(outcome).map((match) => ({ resultIndex, ...match })),
  )
  const decision = bestDecision(outcomes.flatMap((outcome) => outcome.decision ?? []))
  return { response, stored, subjectIds, unbilledImages, scrubbed, scores, matches, decision }
}

type RoomCheck = {
  readonly action: Pick<Action, 'analyzesAllImages'>
  /** The parameters as the client sent them. */
  readonly params: unknown
  readonly projectId: string
}

/**
 * Rejects a call for whose images the vision workers have no room, before its admission. A rejected
 * call therefore costs no transaction, and overload does not slow down the accepted calls. It is not
 * logged, consumes no rate-limit token and is counted in the metrics.
 *
 * @throws HttpError 503 with Retry-After.
 */
export function assertRoom(
  vision: Services['vision'],
  { action, params, projectId }: RoomCheck,
): void {
  const images = sentImages(params)
  const { analyzesAllImages: all = false } = action
  const analyzed = (typeof all === 'function' ? all(params) : all) ? images : images.slice(0, 1)
  if (analyzed.length > 0) vision.assertRoom(analyzed, { projectId })
}

/** Returns the images in `params.images`; the action rejects everything else in there. */
function sentImages(params: unknown): readonly { readonly bytes: string }[] {
  const { images } = Object(params) as { readonly images?: unknown }
  return Array.isArray(images) ? images.filter(hasBytes) : []
}

function hasBytes(image: unknown): image is { readonly bytes: string } {
  return typeof (Object(image) as { readonly bytes?: unknown }).bytes === 'string'
}
