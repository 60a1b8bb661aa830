import { deleteSubject } from '../../gallery/deletion/subject-deletion.ts'
import { decideDistinct } from '../../gallery/health/decide-distinct.ts'
import { type SubjectKeys, createSubjectKeys, openKeyring } from '../../gallery/keys/keyring.ts'
import { createDecryptStoredTemplate } from '../../gallery/keys/template-encryption.ts'
import { mergeSubjects } from '../../gallery/merge-subjects.ts'
import { type UndoMergeOptions, undoMerge } from '../../gallery/merge/undo-merge.ts'
import { storeVectors } from '../../gallery/search/database/rank-nearest.ts'
import { createReadCrop, loadSubjectDetails } from '../../gallery/subjects.ts'
import { mapSequential } from '../../lib/account-context.ts'
import { formatUtc } from '../../lib/clock.ts'
import { isUuid } from '../../lib/ids.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import { commandLineName } from '../../store/console/audit-log.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { findMerges } from '../../store/gallery/duplicates/subject-merges.ts'
import { listMatchDays } from '../../store/gallery/feedback/match-days.ts'
import { listNearMisses } from '../../store/gallery/feedback/near-miss-crops.ts'
import { hasExpired } from '../../store/gallery/expired-subjects.ts'
import { findSubjectFaces } from '../../store/gallery/faces.ts'
import { findSubjectMatches } from '../../store/gallery/feedback/match-verdicts.ts'
import { lockGallery } from '../../store/gallery/galleries.ts'
import { readSubjects } from '../../store/gallery/search/search-subjects.ts'
import { findSubject } from '../../store/gallery/subjects.ts'
import { findSubjectTemplates } from '../../store/gallery/templates.ts'
import type { Project } from '../../store/tenancy/projects.ts'
import { createSubjectExpired } from '../../webhooks/subject-expired.ts'
import { type AuditedResult, auditedChange } from '../audit/audited-change.ts'
import { writeNewFile } from '../command-line/write-new-file.ts'
import { type CommandValues, UsageError, formatTable, print, printRows } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { withProject } from '../with-store.ts'
import { quantity } from '../quantity.ts'

type SubjectValues = CommandValues<'project' | 'subject'>

/** Merges a subject into another one, as the console does. */
export async function merge(values: SubjectValues & { readonly into: string }) {
  const { project, subject, into, json } = values
  const merged = await changeGallery(project, 'subject.merge', async ({ tx, find, nowUtc }) => {
    const source = await find(subject)
    const target = await find(into)
    const { subjectId: sourceSubjectId } = source
    const { subjectId } = target
    if (subjectId === sourceSubjectId)
      throw new UsageError(`--into must be another subject than ${subject}`)
    const { record, mergeId } = await mergeSubjects(tx, { source, target }, mergeOptions(nowUtc))
    const detail = { sourceSubjectId, deletionId: record.deletionId, mergeId }
    return { result: { subjectId, ...detail }, target: subjectId, detail }
  })
  const { mergeId, sourceSubjectId, subjectId } = merged
  const undo = `facegate subject unmerge ${mergeId} --project ${project}`
  print(merged, json, () => `merged ${sourceSubjectId} into ${subjectId}; undo: ${undo}`)
}

/** Lists the merges that can be undone, the newest first. */
export async function listMerges({ project, json }: CommandValues<'project'>): Promise<void> {
  const found = await withProject(project, (store, _project, galleryId) =>
    store.read((reading) => findMerges(reading, { galleryId, nowMs: Date.now() })),
  )
  const merges = found.map(({ mergeId, subjectId, mergedAtMs, expiresAtMs }) => ({
    mergeId,
    subjectId,
    mergedAtUtc: formatUtc(mergedAtMs),
    expiresAtUtc: formatUtc(expiresAtMs),
  }))
  printRows(merges, json, {
    mergeId: 'mergeId',
    'remaining subject': 'subjectId',
    merged: 'mergedAtUtc',
    'can be undone until': 'expiresAtUtc',
  })
}

/** Undoes a merge: the merged subject exists again, with a new id. */
export async function unmerge({ project, mergeId, json }: CommandValues<'project' | 'mergeId'>) {
  const separated = await changeGallery(project, 'subject.undoMerge', async (context) => {
    const { tx, galleryId, nowUtc } = context
    const undo = { galleryId, mergeId: mergeId.toLowerCase() }
    const { subject, target } = await undoMerge(tx, undo, mergeOptions(nowUtc))
    const { subjectId } = subject
    const result = { subjectId, targetSubjectId: target.subjectId }
    return { result, target: target.subjectId, detail: { mergeId, subjectId } }
  })
  const { subjectId, targetSubjectId } = separated
  print(separated, json, () => `${subjectId} is separate from ${targetSubjectId} again`)
}

/** Marks two subjects as different people, or removes the mark. */
export async function setDistinct({
  project,
  subject,
  other,
  undo,
  json,
}: SubjectValues & { readonly other: string; readonly undo: boolean }): Promise<void> {
  const marked = await changeGallery(project, 'subject.setDistinct', async (context) => {
    const { tx, find, galleryId, nowMs: at } = context
    const { subjectId } = await find(subject)
    const { subjectId: otherId } = await find(other)
    const decision = { at, by: commandLineName, isDistinct: !undo }
    await decideDistinct(tx, { galleryId, subjectId, otherId }, decision)
    const detail = { otherSubjectId: otherId, distinct: !undo }
    return { result: { subjectId, ...detail }, target: subjectId, detail }
  })
  const { subjectId, otherSubjectId } = marked
  const mark = undo ? 'are no longer marked as' : 'are marked as'
  print(marked, json, () => `${subjectId} and ${otherSubjectId} ${mark} different people`)
}

function mergeOptions(nowUtc: string): UndoMergeOptions {
  const { search, onExpired: onDeleted, ...options } = galleryOptions()
  return { ...options, ...search, onDeleted, nowUtc }
}

/** Returns what moves faces between subjects, with the settings of the environment. */
export function galleryOptions() {
  const settings = readSettings()
  const keys = openSubjectKeys()
  const log = { error: failForTampered }
  const decryptStored = createDecryptStoredTemplate(keys, log)
  // The search in memory follows the changes of the gallery.
  const store: UndoMergeOptions['storeVectors'] = async (tx, { galleryId, subjectId }) => {
    if (settings.SEARCH === 'pgvector')
      await storeVectors(tx, { galleryId, subjectIds: [subjectId] }, decryptStored)
  }
  return {
    keys,
    log,
    decryptStored,
    templatesPerSubject: settings.SUBJECT_TEMPLATES_MAX,
    templatesPerGallery: settings.GALLERY_TEMPLATES_MAX,
    onExpired: createSubjectExpired(settings.WEBHOOK_OUTBOX_MAX),
    search: { storeVectors: store },
  }
}

/** Writes all data of a subject to a new file, in the transaction with its entry in the audit log. */
export async function exportSubject(values: SubjectValues & { readonly out: string }) {
  const { project, subject, out, json } = values
  const written = await withProject(project, (store, { projectId, name, accountId }, galleryId) =>
    auditedChange(store, 'subject.export', async ({ tx, nowMs }) => {
      const row = await requireSubject(tx, galleryId, subject)
      const { subjectId, lastSeenAtUtc } = row
      const [details] = await loadSubjectDetails(tx, [row])
      const faces = await readFaces(tx, row)
      const stored = await findSubjectMatches(tx, subjectId)
      const matches = stored.map(({ verdictId: _id, matchedAtMs, ...match }) => {
        return { matchedAtUtc: formatUtc(matchedAtMs), ...match }
      })
      const nearMisses = await listNearMisses(tx, subjectId)
      const matchDays = await listMatchDays(tx, subjectId)
      const content = {
        exportedAtUtc: formatUtc(nowMs),
        project: { projectId, name },
        subject: { ...details, lastSeenAtUtc, faces, matches, nearMisses, matchDays },
      }
      await writeNewFile(out, `${JSON.stringify(content, undefined, 2)}\n`)
      const result = { subjectId, file: out, faces: faces.length }
      return { result, accountId, target: subjectId, detail: { projectId } }
    }),
  )
  const faces = quantity(written.faces, 'face')
  print(written, json, () => `${written.file}: the data of ${subject}, ${faces}`)
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

export type GalleryChangeContext = Pick<Project, 'projectId' | 'accountId'> & {
  readonly tx: Tx
  readonly galleryId: string
  readonly nowMs: number
  readonly nowUtc: string
  /** Finds a subject by its subjectId or externalId. @throws Error when there is none. */
  readonly find: (subject: string) => Promise<SubjectRow>
}

/** Changes a locked gallery in the transaction with its entry in the audit log. */
export function changeGallery<T>(
  idOrName: string,
  auditAction: string,
  change: (context: GalleryChangeContext) => Promise<Omit<AuditedResult<T>, 'accountId'>>,
): Promise<T> {
  return withProject(idOrName, async (store, { projectId, accountId }, galleryId) => {
    const changed = await auditedChange(store, auditAction, async ({ tx, nowMs }) => {
      await lockGallery(tx, galleryId, 'exclusive')
      const find = (subject: string) => requireSubject(tx, galleryId, subject)
      const ids = { accountId, projectId, galleryId }
      const entry = await change({ tx, ...ids, nowMs, nowUtc: formatUtc(nowMs), find })
      return { ...entry, accountId, detail: { ...entry.detail, projectId } }
    })
    // The deleted rows leave the write-ahead log.
    await store.checkpoint()
    return changed
  })
}

/** The keys of the subjects, with the master key of the environment. */
function openSubjectKeys(): SubjectKeys {
  return createSubjectKeys(openKeyring(masterKeyPath(readSettings())), Date.now)
}

export async function remove({ project, subject, json }: SubjectValues): Promise<void> {
  const record = await changeGallery(project, 'subject.delete', async ({ tx, find, nowUtc }) => {
    const row = await find(subject)
    const result = await deleteSubject(tx, row, nowUtc)
    return { result, target: row.subjectId, detail: { deletionId: result.deletionId } }
  })
  const { subjectId, embeddingCount, deletionId } = record
  const deleted = `deleted ${subjectId} with ${quantity(embeddingCount, 'template')}`
  print(record, json, () => `${deleted}; deletion record ${deletionId}`)
}

export async function list({
  project,
  json,
  group,
  text,
  limit,
}: CommandValues<'project', 'group' | 'text'> & { readonly limit: number }): Promise<void> {
  const listed = await withProject(project, (store, _project, galleryId) => {
    const filter = { galleryId, group, text, limit, unexpiredAtUtc: formatUtc(Date.now()) }
    return readSubjects(store, filter, loadSubjectDetails)
  })
  const subjects = listed.flatMap(({ subject }) => subject ?? [])
  printRows(subjects, json, {
    subjectId: 'subjectId',
    externalId: 'externalId',
    name: 'displayName',
    faces: 'embeddingCount',
    groups: 'groups',
    created: 'createdAtUtc',
  })
}

export async function show({ project, subject, json }: SubjectValues): Promise<void> {
  const shown = await withProject(project, (store, _project, galleryId) =>
    store.read(async (reading) => {
      const row = await requireSubject(reading, galleryId, subject)
      const [details] = await loadSubjectDetails(reading, [row])
      return { ...details, lastSeenAtUtc: row.lastSeenAtUtc }
    }),
  )
  printFields(shown, json)
}

/** Prints an object as JSON, or as a table of its fields. */
export function printFields(shown: object, json: boolean): void {
  const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const rows = Object.entries(shown).map(([field, value]) => [field, toText(value)])
  print(shown, json, () => formatTable(['field', 'value'], rows))
}

/** Finds a subject by its subjectId or externalId. @throws Error when there is none. */
async function requireSubject(reading: ReadTx, galleryId: string, text: string) {
  const byId = isUuid(text) ? await findSubject(reading, galleryId, { subjectId: text }) : undefined
  const externalId = text.normalize('NFC')
  const found = byId ?? (await findSubject(reading, galleryId, { externalId }))
  if (found && !hasExpired(found, formatUtc(Date.now()))) return found
  throw new Error(`the gallery has no subject ${text}; facegate subject list prints its subjects`)
}

/** Must be passed as the log of a decryption: a change with unreadable data would not be complete. */
function failForTampered(): never {
  throw new Error('stored data of a subject cannot be decrypted; nothing was changed or exported')
}
