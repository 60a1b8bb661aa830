import type { ImportEntry } from './list-entries.ts'

const createKey =
  'facegate key create --project <project> --permissions svc.enroll,svc.updateSubject'

/** The remedies of errors that every further image would have, by their code. */
const remedies: Readonly<Record<string, string>> = {
  FORBIDDEN: `create a key with ${createKey}`,
  PAYMENT_REQUIRED:
    'add money with facegate wallet top-up --amount <micros>, then ' +
    'facegate budget allocate --project <project> --amount <micros>',
  GALLERY_FULL: 'delete subjects, or import into another project',
}

const statusRemedies: Readonly<Record<number, string>> = {
  401: `create a key with ${createKey}, and pass it with --key or FACEGATE_KEY`,
  402: remedies['PAYMENT_REQUIRED'] ?? '',
  403: remedies['FORBIDDEN'] ?? '',
}

/** One item of `errors[]` of a response. */
export type EnrollError = {
  readonly code: string
  readonly message: string
  readonly path?: string | undefined
}

/** Returns the message about a status that every further image would have. */
export function lastingFailure(status: number, detail: string): string {
  const remedy = statusRemedies[status] ?? 'pass the address of a Facegate service with --url'
  const reason =
    status === 401 ? 'the service rejects the key' : `the service returned HTTP ${status}`
  return `${reason}${detail === '' ? '' : `: ${detail.replace(/\.$/u, '')}`}; ${remedy}`
}

/** Returns whether every further image would have this status. */
export function isLastingStatus(status: number): boolean {
  return [401, 402, 403, 404, 405].includes(status)
}

/**
 * Returns the message about an error that every further image would have; undefined for an error of
 * one image or one subject.
 */
export function lastingError(error: EnrollError, entry: ImportEntry): string | undefined {
  const { code, message } = error
  const text = message.replace(/\.$/u, '')
  const remedy = remedies[code]
  if (remedy !== undefined) return `${code}: ${text}; ${remedy}`
  // The options of the command are the same for every image; the groups of a list are not.
  const isOption =
    error.path?.startsWith('params.facePolicy') === true ||
    (error.path?.startsWith('params.groups') === true && entry.groups.length === 0)
  return code === 'INVALID_REQUEST' && isOption ? `${code}: ${text}; correct the option` : undefined
}
