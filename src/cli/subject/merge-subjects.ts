import { decideDistinct } from '../../gallery/health/decide-distinct.ts'
import { createDecryptStoredTemplate } from '../../gallery/keys/decrypt-stored-template.ts'
import { undoMerge, type UndoMergeOptions } from '../../gallery/merge/undo-merge.ts'
import { mergeSubjects } from '../../gallery/merge-subjects.ts'
import { storeVectors } from '../../gallery/search/database/subject-vectors.ts'
import { formatUtc } from '../../lib/clock.ts'
import { commandLineName } from '../../store/console/audit-log.ts'
import { findMerges } from '../../store/gallery/duplicates/subject-merges.ts'
import { createSubjectExpired } from '../../webhooks/subject-expired.ts'
import { type CommandValues, UsageError, print, printRows } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { changeGallery, openSubjectKeys } from './change-gallery.ts'
import { failForTampered, requireSubject, withProject } from './find-subject.ts'

type PairValues = CommandValues<'project' | 'subject' | 'other'>

/** Merges a subject into another one, as the console does. */
export async function merge({
  project,
  subject,
  into,
  json,
}: CommandValues<'project' | 'subject' | 'into'>): Promise<void> {
  const merged = await changeGallery(project, 'subject.merge', async ({ tx, ...context }) => {
    const { galleryId, nowUtc } = context
    const source = await requireSubject(tx, galleryId, subject)
    const target = await requireSubject(tx, galleryId, into)
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
export async function unmerge({
  project,
  mergeId,
  json,
}: CommandValues<'project' | 'mergeId'>): Promise<void> {
  const separated = await changeGallery(
    project,
    'subject.undoMerge',
    async ({ tx, ...context }) => {
      const { galleryId, nowUtc } = context
      const undo = { galleryId, mergeId: mergeId.toLowerCase() }
      const { subject, target } = await undoMerge(tx, undo, mergeOptions(nowUtc))
      const { subjectId } = subject
      const result = { subjectId, targetSubjectId: target.subjectId }
      return { result, target: target.subjectId, detail: { mergeId, subjectId } }
    },
  )
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
}: PairValues & { readonly undo: boolean }): Promise<void> {
  const marked = await changeGallery(project, 'subject.setDistinct', async ({ tx, ...context }) => {
    const { galleryId, nowMs: at } = context
    const { subjectId } = await requireSubject(tx, galleryId, subject)
    const { subjectId: otherId } = await requireSubject(tx, galleryId, other)
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
  const { SEARCH, SUBJECT_TEMPLATES_MAX, WEBHOOK_OUTBOX_MAX } = readSettings()
  const keys = openSubjectKeys()
  const decryptStored = createDecryptStoredTemplate(keys, { error: failForTampered })
  return {
    keys,
    nowUtc,
    templatesPerSubject: SUBJECT_TEMPLATES_MAX,
    onDeleted: createSubjectExpired(WEBHOOK_OUTBOX_MAX),
    // The search in memory follows the changes of the gallery.
    storeVectors: async (tx, { galleryId, subjectId }) => {
      if (SEARCH === 'pgvector')
        await storeVectors(tx, { galleryId, subjectIds: [subjectId] }, decryptStored)
    },
  }
}
