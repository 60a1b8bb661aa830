import { ActionError } from '../../../lib/errors.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { ActionCall, ActionResult } from '../../action.ts'
import { samePersonSimilarityMin } from '../pictures/same-person.ts'

type ProofParams = {
  readonly requireLiveness: boolean
  readonly livenessToken?: string | undefined
}

/** The person of a liveness token, for comparisons with the faces of a call. */
export type LivenessProof = {
  /** Whether a face is that of the person who proved to be live. */
  readonly isSamePerson: (template: Template) => boolean
  /** @throws ActionError LIVENESS_FAILED if the face is that of another person. */
  readonly requireSamePerson: (template: Template) => void
}

/**
 * Reads the liveness token of a call, before its images are analyzed.
 *
 * @returns undefined if the call has none, or does not require liveness.
 * @throws ActionError LIVENESS_FAILED if the token is not valid.
 */
export async function readLivenessProof({
  params: { requireLiveness, livenessToken },
  caller,
  services: { challenges, matching },
}: Pick<ActionCall<ProofParams>, 'params' | 'caller' | 'services'>): Promise<
  LivenessProof | undefined
> {
  if (!requireLiveness || livenessToken === undefined) return undefined
  const livePerson = await challenges.tokens.read(caller, livenessToken)
  const similarityOf = (template: Template) => matching.compare(template, livePerson).similarity
  return {
    isSamePerson: (template) => similarityOf(template) >= samePersonSimilarityMin,
    requireSamePerson: (template) => {
      const similarity = similarityOf(template)
      if (similarity >= samePersonSimilarityMin) return
      throw new ActionError(
        'LIVENESS_FAILED',
        `params.livenessToken: the face is not that of the person who passed the challenge (similarity ${similarity.toFixed(2)}, below ${samePersonSimilarityMin.toFixed(2)})`,
      )
    },
  }
}

type TokenParams = ProofParams & { readonly images?: readonly unknown[] | undefined }

type RunAction<Params, Value> = (call: ActionCall<Params>) => Promise<ActionResult<Value>>

/**
 * Wraps an action that requires liveness: its liveness token is spent in the transaction that settles
 * the call, if at least one of its images succeeds. `extractProbes` compares the faces with the token.
 *
 * @throws ActionError INVALID_REQUEST for a token that the call would not use.
 */
export function spendLivenessToken<Params extends TokenParams, Value>(
  run: RunAction<Params, Value>,
): RunAction<Params, Value> {
  return async (call) => {
    const { params, caller, services } = call
    const { livenessToken: token } = params
    if (token === undefined) return run(call)
    requireUse(params)
    const result = await run(call)
    const { effect, afterCommit } =
      'effect' in result ? result : { effect: () => result, afterCommit: undefined }
    return {
      effect: async (tx) => {
        const outcomes = await effect(tx)
        if (outcomes.some((outcome) => 'value' in outcome))
          await services.challenges.tokens.spend(tx, caller, token)
        return outcomes
      },
      afterCommit,
    }
  }
}

function requireUse({ requireLiveness, images = [] }: TokenParams): void {
  if (!requireLiveness)
    throw new ActionError(
      'INVALID_REQUEST',
      'params.livenessToken: is only used with requireLiveness; send requireLiveness true',
    )
  if (images.length === 0)
    throw new ActionError(
      'INVALID_REQUEST',
      'params.livenessToken: is only used with an image; send images',
    )
}
