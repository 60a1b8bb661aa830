import type { Api } from '../../api/api.ts'
import { readCheckedFile, toImageItem } from '../../playground/images/playground-image.ts'
import type { FileLimits } from '../../playground/images/image-refusal.ts'
import { contentUuid, enrollEntry } from './enroll-entry.ts'
import type { RowResult } from './import-result.ts'
import type { PlannedRow } from './plan-import.ts'
import { waitSeconds } from './use-import-run.ts'

type Target = { readonly api: Api; readonly projectId: string }

/** Updates the subjects of rows with one request. */
export async function sendUpdates(
  { api, projectId }: Target,
  entries: readonly PlannedRow<File>[],
): Promise<readonly RowResult[]> {
  const rows = entries.map(({ line, values }) => ({ line, values }))
  const { items } = await api.send('POST', '/projects/:projectId/subjects/import', {
    pathParams: { projectId },
    body: { rows },
  })
  const names = new Map(entries.map(({ line, name }) => [line, name]))
  return items.map(({ message, ...item }) => ({
    ...item,
    name: names.get(item.line) ?? '',
    message: item.result === 'unknown' ? unknownText : message,
  }))
}

const unknownText = 'no subject has this id; enroll it with a picture'

type EnrollTarget = Target & {
  readonly limits: FileLimits
  readonly signal: AbortSignal
  /** `reject`: a face that is similar to an enrolled subject is not enrolled. */
  readonly duplicateCheck: 'reject' | 'report'
}

/** Enrolls the picture of a row with one call, which is sent again while the service refuses its rate. */
export async function sendEnrollment(
  { api, projectId, limits, signal, duplicateCheck }: EnrollTarget,
  { line, name, values, picture }: PlannedRow<File>,
): Promise<RowResult> {
  if (!picture) return { line, name, result: 'refused', message: 'has no picture' }
  const read = await readCheckedFile(picture, limits)
  if ('refusal' in read) return { line, name, result: 'refused', message: read.refusal }
  read.image.bitmap?.close()
  const params = { images: [toImageItem(read.image)], ...values, duplicateCheck }
  const requestId = await contentUuid(JSON.stringify({ projectId, params }))
  return enrollEntry(
    { line, name },
    {
      requestId,
      send: (id) => {
        const call = { action: 'svc.enroll', requestId: id, params }
        return api.send('POST', '/playground', { body: { projectId, call } })
      },
      waitS: (seconds) => waitSeconds(seconds, signal),
    },
  )
}
