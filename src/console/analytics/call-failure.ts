import type { CallDetail } from '../../gate/log-call.ts'
import { errorTable } from '../../lib/errors.ts'
import { readCalls, type LoggedCall } from '../../store/gate/calls.ts'
import type { ReadTx } from '../../store/database.ts'
import otherCodes from './other-codes.json' with { type: 'json' }

/** Returns why a call failed, in one line; null for a success. */
export function messageOf(call: LoggedCall): string | null {
  const problems = readDetail(call)?.problems ?? generalProblems(call.code)
  return problems[0]?.message ?? null
}

/** Returns the stored detail of a call, or of the first call that it repeats. */
export async function findDetail(tx: ReadTx, call: LoggedCall): Promise<CallDetail | undefined> {
  const own = readDetail(call)
  if (own || call.isReplay === 0) return own
  // A replay repeats the result of the first call with its id, which has the detail.
  const { code, projectId, requestId } = call
  const calls = await readCalls(tx, { projectId, requestId, limit: repeatsMax })
  const first = calls.find((other) => other.code === code && other.detail !== null)
  return first && readDetail(first)
}

/** The service has stored the detail in this form. */
function readDetail({ detail }: LoggedCall): CallDetail | undefined {
  return detail === null ? undefined : (JSON.parse(detail) as CallDetail)
}

/** The most calls with one request id that are searched for the first one. */
const repeatsMax = 100

/** Returns why a call failed, each problem with a remedy: that of its code if it has no other. */
export function problemsOf({ code }: LoggedCall, detail: CallDetail | undefined) {
  const problems = detail?.problems ?? generalProblems(code)
  return problems.map((problem) => {
    const hint = problem.hint ?? generalProblems(problem.code)[0]?.hint
    return hint === undefined ? problem : { ...problem, hint }
  })
}

/**
 * Explains a code for which no message is stored. `other-codes.json` has the codes of the request log
 * that are not in the table of errors.
 */
function generalProblems(code: string): CallDetail['problems'] {
  if (code === 'OK') return []
  const explained = { ...errorTable, ...otherCodes } as Readonly<
    Record<string, { readonly condition: string; readonly remedy: string }>
  >
  const { condition, remedy } = explained[code] ?? otherCodes.HTTP_500
  return [{ code, message: condition, hint: remedy }]
}
