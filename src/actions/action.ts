import { z } from 'zod'
import type { LivenessSessions } from '../gallery/liveness/liveness-sessions.ts'
import type { Gallery } from '../gallery/gallery.ts'
import { ActionError, type ActionErrorCode, type ActionProblem } from '../lib/errors.ts'
import type { ExtraImageType } from '../lib/image-types/image-types.ts'
import { correlationIdCharsMax } from '../lib/limits/call-limits.ts'
import type { CallDecision } from '../lib/observability/call-decision.ts'
import { omitNulls } from '../lib/validation/describe-issue.ts'
import { sentImages } from '../lib/validation/sent-images.ts'
import type { Score } from '../store/gate/hourly-counts.ts'
import type { FaceEvent } from '../store/webhooks/events.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { Tx } from '../store/database.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import type { AnalysisRequest, ImageAnalysis } from '../vision/image-analysis.ts'
import type { VisionClient } from '../vision/vision-client.ts'
import { parseParams } from './parse-params.ts'
import {
  runWithSessionImage,
  sessionImageCount,
  withSessionImage,
  type SessionImage,
} from './session-image.ts'

/** The owner of the API key, as the gate has authenticated it. */
export type Caller = Pick<
  KeyIdentity,
  'keyId' | 'projectId' | 'accountId' | 'galleryId' | 'switches' | 'permissions'
>

/** The services that actions use. An action receives them as a parameter and opens none itself. */
export type Services = Gallery & {
  readonly vision: VisionClient
  /** The latest analysis of each image of the call, which needs no other one if it runs again. */
  readonly analyses?: Map<number, { of: [EncodedImage, AnalysisRequest]; analysis: ImageAnalysis }>
  readonly livenessSessions: LivenessSessions
  /** The file types that images may have in addition to JPEG and PNG; by default none. */
  readonly extraImageTypes?: readonly ExtraImageType[]
}

/**
 * Returns the services for one call of a project: its similarities are those of the calibration that
 * the project's gallery uses at the start of the call.
 */
export function calibratedServices(
  services: Services,
  { galleryId }: Pick<Caller, 'galleryId'>,
): Services {
  return { ...services, matching: services.matching.calibratedFor(galleryId) }
}

/** One call of an action. Its parameters have been validated. */
export type ActionCall<Params> = {
  readonly params: Params
  readonly caller: Caller
  readonly services: Services
  /** Aborts when the client disconnects: work that is still queued need not start. */
  readonly signal: AbortSignal
  /** Whether the response includes `debug`. */
  readonly debug: boolean
  /** As the caller sent it, or a new one. */
  readonly requestId: string
}

/** One element of `results[]`: a value or, in a batch, the error of one item. */
export type ItemOutcome<Value = unknown> = {
  readonly correlationId: string | undefined
  /** The subjects that the value contains. It is scrubbed when one of them is deleted. */
  readonly subjectIds?: readonly string[]
  /** Images of a successful call that are not charged; by default none. */
  readonly unbilledImages?: number
  /** What the request log contains about the value. It must not refer to a person. */
  readonly decision?: CallDecision | undefined
  /** What webhooks of the project receive about the faces. */
  readonly faceEvents?: readonly FaceEvent[]
} & (
  | {
      readonly value: Value
      /** Is stored for replays instead of the value, which has large crops. */
      readonly valueWithoutCrops?: Value
    }
  | { readonly error: ActionProblem }
)

export type ItemOutcomes<Value = unknown> = readonly ItemOutcome<Value>[]

/** What an action returns: its outcomes, or an effect that returns them when the call is settled. */
export type ActionResult<Value = unknown> = ItemOutcomes<Value> | ActionEffect<Value>

type ActionEffect<Value> = {
  /**
   * Reads and writes in the transaction that also charges the call and stores its response, and
   * returns the outcomes. If it throws an ActionError, its writes are rolled back and that error is
   * the response.
   */
  readonly effect: (tx: Tx) => Promise<ItemOutcomes<Value>> | ItemOutcomes<Value>
  /** Runs after the commit and before the response is sent. It must not throw. */
  readonly afterCommit?: (() => Promise<void>) | undefined
}

/** A permission and its condition, such as "for `force`". */
export type ConditionalPermission = {
  readonly permission: string
  readonly condition: string
  /**
   * Whether a call with these parameters needs it, before their validation; absent if that depends on
   * the subject. A key without the permission also receives no stored response of such a call.
   */
  readonly isNeeded?: (params: unknown) => boolean
}

type ActionNameFormat = `svc.${string}`

type ActionDefinition<
  Params extends z.ZodType,
  Value extends z.ZodType,
  Name extends ActionNameFormat,
> = {
  readonly name: Name
  /** One sentence for the documentation. */
  readonly summary: string
  /**
   * Returns the price units of a successful call with this number of images. `params` are those of
   * the request before their validation; absent for the price in the documentation.
   */
  readonly price: (imageCount: number, params?: unknown) => number
  readonly params: Params
  /**
   * Whether `results[]` has one element per image, which can fail by itself: in every call, or in calls
   * with `allImages`. By default it has one element per call.
   */
  readonly resultPerImage?: 'always' | 'allImages'
  /** The image that the reference frame of a liveness session can replace; by default none. */
  readonly sessionImage?: SessionImage
  /** Whether a call with these parameters analyzes all its images; by default only the first. */
  readonly analyzesAllImages?: true | ((params: unknown) => boolean)
  readonly value: Value
  /** Permissions that some of its calls need, and when; the action requires them itself. */
  readonly furtherPermissions?: readonly ConditionalPermission[]
  /** The error codes of this action, in addition to those of the gate. */
  readonly errors: readonly ActionErrorCode[]
  /**
   * For the documentation: parameters without their images, and the value of the response. A test
   * validates them by the schemas.
   */
  readonly example: { readonly params: object; readonly value: unknown }
  /**
   * Returns what stays stored for replays after a subject in the value is deleted: the decisions, such
   * as `matched`, without the identities.
   */
  readonly scrub?: (value: z.output<Value>) => z.output<Value>
  /** Returns the scores that the charts count. They must not identify a person. */
  readonly scores?: (value: z.output<Value>) => readonly Score[]
  /**
   * Checks rules between parameters, and permissions that they need. It reads no image and no database.
   *
   * @throws ActionError INVALID_REQUEST or FORBIDDEN.
   */
  readonly checkCall?: (call: ActionCall<z.output<Params>>) => void
  readonly run: (call: ActionCall<z.output<Params>>) => Promise<ActionResult<z.input<Value>>>
}

/** An action of the API. */
export type Action = Omit<
  ActionDefinition<z.ZodType, z.ZodType, ActionNameFormat>,
  'run' | 'checkCall' | 'scrub' | 'scores'
> & {
  /** By default it has the name of the action. Only a route replaces it. */
  readonly permission?: string
  /**
   * Calls with different scopes are different requests: the response of one is not replayed for the
   * other. By default there is none. A route that changes the price or the permission sets it.
   */
  readonly replayScope?: string
  /**
   * Returns the parameters without the fields that are null although they are optional: they count as
   * absent. The parameters need not be valid.
   */
  readonly withoutNulls: (params: unknown) => unknown
  /** Validates the call and does not run it. @throws ActionError INVALID_REQUEST or FORBIDDEN. */
  readonly check: (call: ActionCall<unknown>) => Promise<void>
  /** Validates the parameters and runs the action. @throws ActionError INVALID_REQUEST. */
  readonly run: (call: ActionCall<unknown>) => Promise<ActionResult>
  /** Validates the value of an outcome. @throws ZodError if it does not match the schema. */
  readonly validate: (outcome: ItemOutcome) => ItemOutcome
  /** This and `scores` expect an outcome that `validate` returned. */
  readonly scrub: (outcome: ItemOutcome) => ItemOutcome
  readonly scores: (outcome: ItemOutcome) => readonly Score[]
}

/**
 * Creates an action from its definition. OpenAPI, the docs and the client are derived from it; tests
 * compare the client's types with those of its name and schemas.
 */
export function defineAction<
  Params extends z.ZodType,
  Value extends z.ZodType,
  Name extends ActionNameFormat,
>(
  definition: ActionDefinition<Params, Value, Name>,
): Action & Pick<ActionDefinition<Params, Value, Name>, 'name' | 'params' | 'value'> {
  const validate = (outcome: ItemOutcome): ItemOutcome => {
    if (!('value' in outcome)) return outcome
    const { valueWithoutCrops: stored } = outcome
    return {
      ...outcome,
      value: definition.value.parse(outcome.value),
      ...(stored !== undefined && { valueWithoutCrops: definition.value.parse(stored) }),
    }
  }
  const { sessionImage, price } = definition
  const readCall = (call: ActionCall<unknown>) => readActionCall(definition, call)
  const runCall = async (call: ActionCall<unknown>) => definition.run(readCall(call))
  let schema: z.core.JSONSchema.BaseSchema | undefined
  return Object.freeze({
    ...definition,
    price: (imageCount: number, params?: unknown) =>
      price(imageCount + (sessionImage ? sessionImageCount(params) : 0), params),
    withoutNulls: (params: unknown) => {
      schema ??= z.toJSONSchema(definition.params, { io: 'input', unrepresentable: 'any' })
      return omitNulls(params, schema)
    },
    check: async (call: ActionCall<unknown>) => {
      const complete = withSessionImage(call, sessionImage)
      await withCorrelationIds(call.params, async () => (readCall(complete), []))
    },
    run: (call: ActionCall<unknown>) =>
      withCorrelationIds(call.params, () =>
        runWithSessionImage(call, sessionImage, readCall, runCall),
      ),
    validate,
    scrub: (outcome: ItemOutcome) => {
      if (!('value' in outcome) || !definition.scrub) return outcome
      // As below: to parse a large value again takes as long as all else.
      return validate({ ...outcome, value: definition.scrub(outcome.value as z.output<Value>) })
    },
    scores: (outcome: ItemOutcome) =>
      // `validate` has checked the value against this schema.
      'value' in outcome ? (definition.scores?.(outcome.value as z.output<Value>) ?? []) : [],
  })
}

/** Returns a call with valid parameters. @throws ActionError INVALID_REQUEST or FORBIDDEN. */
function readActionCall<Params extends z.ZodType>(
  {
    params: schema,
    checkCall,
  }: {
    readonly params: Params
    readonly checkCall?: (call: ActionCall<z.output<Params>>) => void
  },
  call: ActionCall<unknown>,
): ActionCall<z.output<Params>> {
  const params = parseParams(schema, call.params, call.services.extraImageTypes)
  const checked = { ...call, params }
  checkCall?.(checked)
  return checked
}

/** Adds the correlation ids of the images to the problems that an action throws or returns. */
async function withCorrelationIds<Value>(
  params: unknown,
  run: () => Promise<ActionResult<Value>>,
): Promise<ActionResult<Value>> {
  const complete = (problem: ActionProblem): ActionProblem => {
    const { imageIndex, correlationId } = problem
    return imageIndex === undefined || correlationId !== undefined
      ? problem
      : { ...problem, correlationId: correlationIdOf(params, imageIndex) }
  }
  const guarded = async <Result>(work: () => Promise<Result> | Result): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw error instanceof ActionError ? error.mapProblems(complete) : error
    }
  }
  const toOutcomes = (outcomes: ItemOutcomes<Value>): ItemOutcomes<Value> =>
    outcomes.map((outcome) =>
      'error' in outcome ? { ...outcome, error: complete(outcome.error) } : outcome,
    )
  const result = await guarded(run)
  if (!('effect' in result)) return toOutcomes(result)
  return { ...result, effect: (tx) => guarded(async () => toOutcomes(await result.effect(tx))) }
}

/** The parameters may be invalid. */
function correlationIdOf(params: unknown, imageIndex: number): string {
  const image = sentImages(params)[imageIndex]
  const { correlationId: named } = Object(image) as { readonly correlationId?: unknown }
  return typeof named === 'string' ? named.slice(0, correlationIdCharsMax) : `auto-${imageIndex}`
}
