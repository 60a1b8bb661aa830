import type { z } from 'zod'
import type { Gallery } from '../gallery/gallery.ts'
import { ActionError, type ActionErrorCode } from '../lib/errors.ts'
import type { Score } from '../store/gate/hourly-counts.ts'
import type { ProjectSwitches } from '../store/tenancy/switches.ts'
import type { Tx } from '../store/tx.ts'
import type { AnalysisRequest, EncodedImage, ImageAnalysis } from '../vision/image-analysis.ts'

/** Who calls: the facts of the key, as the gate found them. */
export type Caller = {
  readonly keyId: string
  readonly projectId: string
  readonly accountId: string
  /** The gallery that the caller's project sees. */
  readonly galleryId: string
  /** What the caller's project has switched on. */
  readonly switches: ProjectSwitches
  readonly permissions: readonly string[]
}

/** What actions work with. They arrive by parameter; no action opens anything itself. */
export type Services = {
  readonly vision: {
    /**
     * @throws ActionError when the picture cannot be used.
     * @throws HttpError 503 when no worker is free in time or the worker died.
     */
    analyzeImage(
      picture: EncodedImage,
      look: AnalysisRequest,
      call: { readonly projectId: string; readonly path: string; readonly signal?: AbortSignal },
    ): Promise<ImageAnalysis>
  }
  readonly gallery: Gallery
}

/** One call as an action sees it: parameters already checked. */
export type ActionCall<Params> = {
  readonly params: Params
  readonly caller: Caller
  readonly services: Services
  /** Fires when the client is gone: work still queued need not start. */
  readonly signal: AbortSignal
  /** Whether the answer shall say how it came about. */
  readonly debug: boolean
}

/** One element of `results[]`: a value, or in a batch the failure of one item. */
export type ItemOutcome<Value = unknown> = {
  readonly correlationId: string | undefined
  /** Subjects that the value names: it is scrubbed when one of them is deleted. */
  readonly subjectIds?: readonly string[]
} & (
  | { readonly value: Value }
  | { readonly error: { readonly code: ActionErrorCode; readonly message: string } }
)

/** What an action returns: its outcomes, or an effect that returns them when the call is settled. */
export type ActionResult<Value = unknown> = ItemOutcomes<Value> | ActionEffect<Value>

export type ItemOutcomes<Value = unknown> = readonly ItemOutcome<Value>[]

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

type ActionNameFormat = `svc.${string}`

type ActionDefinition<
  Params extends z.ZodType,
  Value extends z.ZodType,
  Name extends ActionNameFormat,
> = {
  readonly name: Name
  /** One sentence for the documentation. */
  readonly summary: string
  /** Price units of one ok call by the number of images sent. */
  readonly price: (imageCount: number) => number
  readonly params: Params
  readonly value: Value
  /** The codes that this action itself can answer, beyond those of the gate. */
  readonly errors: readonly ActionErrorCode[]
  /** Parameters but for the images, and an answer to them as the documentation shows it. */
  readonly example: { readonly params: object; readonly value: z.input<Value> }
  /** What may be kept of a value for replays once a subject that it names is deleted. */
  readonly scrub?: (value: z.output<Value>) => z.output<Value>
  /** The scores of a value that charts count: numbers of nobody, never a template. */
  readonly scores?: (value: z.output<Value>) => readonly Score[]
  readonly run: (call: ActionCall<z.output<Params>>) => Promise<ActionResult<z.input<Value>>>
}

/** An action of the product. The permission to call it bears its name. */
export type Action = Omit<
  ActionDefinition<z.ZodType, z.ZodType, ActionNameFormat>,
  'run' | 'scrub' | 'scores'
> & {
  /** Validates the parameters and runs the action. @throws ActionError INVALID_REQUEST. */
  readonly run: (call: ActionCall<unknown>) => Promise<ActionResult>
  /** Validates the value of an outcome. @throws ZodError if it does not match the schema. */
  readonly validate: (outcome: ItemOutcome) => ItemOutcome
  /** Returns the outcome without what may not be stored; expects a validated outcome. */
  readonly scrub: (outcome: ItemOutcome) => ItemOutcome
  readonly scores: (outcome: ItemOutcome) => readonly Score[]
}

/** What an action is called, takes and answers: the types of the client are held against these. */
type TypedAction<
  Params extends z.ZodType,
  Value extends z.ZodType,
  Name extends ActionNameFormat,
> = {
  readonly name: Name
  readonly params: Params
  readonly value: Value
}

/** Makes an action of its record. From that record everything else about the action is derived. */
export function defineAction<
  Params extends z.ZodType,
  Value extends z.ZodType,
  Name extends ActionNameFormat,
>(definition: ActionDefinition<Params, Value, Name>): Action & TypedAction<Params, Value, Name> {
  const validate = (outcome: ItemOutcome): ItemOutcome =>
    'value' in outcome ? { ...outcome, value: definition.value.parse(outcome.value) } : outcome
  return Object.freeze({
    ...definition,
    run: async (call: ActionCall<unknown>) =>
      definition.run({ ...call, params: parseParams(definition.params, call.params) }),
    validate,
    scrub: (outcome: ItemOutcome) => {
      if (!('value' in outcome) || !definition.scrub) return outcome
      return validate({
        ...outcome,
        value: definition.scrub(definition.value.parse(outcome.value)),
      })
    },
    scores: (outcome: ItemOutcome) =>
      // `validate` has checked the value against this schema.
      'value' in outcome ? (definition.scores?.(outcome.value as z.output<Value>) ?? []) : [],
  })
}

/** @throws ActionError INVALID_REQUEST with one item per problem, each naming its JSON path. */
function parseParams<Params extends z.ZodType>(schema: Params, params: unknown): z.output<Params> {
  const result = schema.safeParse(params)
  if (result.success) return result.data
  throw new ActionError('INVALID_REQUEST', result.error.issues.flatMap(describeIssue))
}

/** One sentence per problem; several unknown fields are several problems. */
function describeIssue(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${String(step)}`),
    'params',
  )
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${path}.${key.slice(0, 64)}: unknown field`)
  return [`${path}: ${issue.message}`]
}
