import { writeFile } from 'node:fs/promises'
import { createReadCrop } from '../../gallery/read-crop.ts'
import { loadSubjectDetails } from '../../gallery/subjects.ts'
import { mapSequential } from '../../lib/account-context.ts'
import { formatUtc } from '../../lib/clock.ts'
import { findSubjectFaces } from '../../store/gallery/faces.ts'
import { findSubjectTemplates } from '../../store/gallery/templates.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { ReadTx } from '../../store/database.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { type CommandValues, print } from '../command.ts'
import { openSubjectKeys } from './change-gallery.ts'
import { failForTampered, requireSubject, withProject } from './find-subject.ts'

type ExportValues = CommandValues<'project' | 'subject' | 'out'>

/** Writes all data of a subject to a new file, in the transaction with its entry in the audit log. */
export async function exportSubject({ project, subject, out, json }: ExportValues): Promise<void> {
  const written = await withProject(project, (store, { projectId, name, accountId }, galleryId) =>
    auditedChange(store, 'subject.export', async ({ tx, nowMs }) => {
      const row = await requireSubject(tx, galleryId, subject)
      const { subjectId, lastSeenAtUtc } = row
      const [details] = await loadSubjectDetails(tx, [row])
      const faces = await readFaces(tx, row)
      const content = {
        exportedAtUtc: formatUtc(nowMs),
        project: { projectId, name },
        subject: { ...details, lastSeenAtUtc, faces },
      }
      await writeNewFile(out, `${JSON.stringify(content, undefined, 2)}\n`)
      const result = { subjectId, file: out, faces: faces.length }
      return { result, accountId, target: subjectId, detail: { projectId } }
    }),
  )
  print(written, json, () => `${written.file}: the data of ${subject}, ${written.faces} faces`)
}

async function readFaces(tx: ReadTx, subject: SubjectRow) {
  const readCrop = createReadCrop({ keys: openSubjectKeys(), log: { error: failForTampered } })
  const templates = await findSubjectTemplates(tx, [subject.subjectId])
  const byFace = Map.groupBy(templates, ({ faceId }) => faceId)
  const faces = await findSubjectFaces(tx, subject.subjectId)
  return mapSequential(faces, async ({ faceId, qualityScore, createdAtUtc }) => ({
    faceId,
    qualityScore,
    createdAtUtc,
    templatesOfModels: (byFace.get(faceId) ?? []).map(({ modelId }) => modelId),
    cropJpeg: (await readCrop(tx, subject, faceId))?.toString('base64') ?? null,
  }))
}

async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')
      throw new Error(`${file} exists already; name another file`, { cause })
    throw cause
  }
}
