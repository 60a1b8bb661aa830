import type { LivenessVerdict } from '../../../client/src/liveness/index.ts'
import type { PlaygroundResponse } from '../../api/responses.ts'

/** Returns whether the person of a response of svc.liveness is live, and the reasons or error codes. */
export function toVerdict({ envelope }: PlaygroundResponse): LivenessVerdict {
  const { data, errors } = envelope as {
    readonly data: { readonly results: readonly { readonly value: LivenessVerdict }[] } | null
    readonly errors: readonly { readonly code: string }[]
  }
  const value = data?.results[0]?.value
  return value
    ? { live: value.live, reasons: value.reasons }
    : { live: false, reasons: errors.map(({ code }) => code) }
}
