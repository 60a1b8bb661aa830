import type { JudgedAttempt, SessionProgress } from '../../../client/src/liveness/index.ts'
import type { PlaygroundResponse } from '../../api/responses.ts'

type Value = {
  readonly live: boolean
  readonly reasons: readonly string[]
  readonly challenge: Pick<JudgedAttempt, 'causes'>
}

/**
 * Returns the result of an attempt from the response of svc.liveness. The playground creates another
 * session for each attempt.
 */
export function toJudgedAttempt(
  session: SessionProgress,
  { envelope }: PlaygroundResponse,
): JudgedAttempt {
  const { data, errors } = envelope as {
    readonly data: { readonly results: readonly { readonly value: Value }[] } | null
    readonly errors: readonly { readonly code: string }[]
  }
  const value = data?.results[0]?.value
  return {
    ...session,
    state: value?.live === true ? 'passed' : 'failed',
    attemptsLeft: 0,
    causes: value?.challenge.causes ?? [],
    reasons: value?.reasons ?? errors.map(({ code }) => code),
  }
}
