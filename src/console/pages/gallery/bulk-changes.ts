import { z } from 'zod'
import { subjectLookup } from '../../../actions/parts/subject-lookup.ts'
import * as fields from '../../../actions/schemas/fields.ts'
import { deletionRecord } from '../../../actions/schemas/subject.ts'
import { mapSequential } from '../../../lib/account-context.ts'
import { ActionError } from '../../../lib/errors.ts'
import { parseInput } from '../../../lib/validation/describe-issue.ts'
import type { Tx } from '../../../store/database.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import { limitByMatches } from '../../../store/gallery/feedback/match-verdicts.ts'
import { lockGallery } from '../../../store/gallery/galleries.ts'
import { type ConsoleContext, defineWrite } from '../../server/console-route.ts'
import { id, invalidField, requireProject } from '../../server/input.ts'

/** The most subjects of one request that changes groups or imports rows: up to 2 ms for each. */
export const subjectChangesMax = 25
/** The most subjects that one request deletes: calls wait for its transaction. */
export const subjectDeletionsMax = 20
/** The most subjects of one query. Their ids must fit into the address of the request. */
export const subjectQueryMax = 200

/** A list of different subjects in a request body. */
const subjectIdList = (max: number) =>
  z
    .array(id)
    .min(1)
    .max(max, `must be a list of 1 to ${max} subject ids`)
    .transform((ids) => [...new Set(ids.map((subjectId) => subjectId.toLowerCase()))])

/** The same in a query: ids separated by commas. */
export const subjectIdQuery = z
  .string()
  .regex(/^[0-9a-fA-F-]{36}(?:,[0-9a-fA-F-]{36})*$/u, 'must be subject ids, separated by commas')
  .transform((text) => [...new Set(text.toLowerCase().split(','))])
  .refine(
    (ids) => ids.length <= subjectQueryMax,
    `must contain at most ${subjectQueryMax} subject ids`,
  )

const groupList = z.array(fields.groupName).max(20).default([])

/** Adds subjects to groups and removes them from groups. A subject that cannot be changed is reported. */
export const changeGroups = defineWrite('/projects/:projectId/subjects/groups', {
  auditAction: 'subject.changeGroups',
  body: z
    .strictObject({
      subjectIds: subjectIdList(subjectChangesMax),
      addGroups: groupList,
      removeGroups: groupList,
    })
    .refine(
      ({ addGroups, removeGroups }) => new Set(addGroups).isDisjointFrom(new Set(removeGroups)),
      'must not contain a group in both addGroups and removeGroups',
    ),
  response: z.object({
    items: z.array(
      z.object({
        subjectId: z.string(),
        result: z.enum(['changed', 'unknown', 'refused']),
        message: z.string().optional(),
      }),
    ),
  }),
  handle: async (call, { tx }) => {
    const { subjectIds, addGroups, removeGroups } = call.body
    const { projectId, found } = await lockSubjects(tx, call, subjectIds)
    const items = await mapSequential(subjectIds, async (subjectId) => {
      const row = found.get(subjectId)
      if (!row) return { subjectId, result: 'unknown' as const }
      const message = await refusalOf(tx, () =>
        call.services.subjects.update(tx, row, { addGroups, removeGroups }),
      )
      return message === undefined
        ? { subjectId, result: 'changed' as const }
        : { subjectId, result: 'refused' as const, message }
    })
    const changed = items.filter(({ result }) => result === 'changed')
    const ids = changed.map(({ subjectId }) => subjectId)
    const detail = { subjects: ids.length, addGroups, removeGroups, subjectIds: ids }
    return { response: { items }, target: projectId, detail }
  },
})

/** The text that confirms the deletion of this many subjects. */
const deletionConfirmation = (count: number): string =>
  `delete ${count} ${count === 1 ? 'subject' : 'subjects'}`

/**
 * Deletes subjects, in one transaction: the first ones of the list, if all have too many matches for it.
 * Subjects that no longer exist are reported.
 */
export const removeSubjects = defineWrite('/projects/:projectId/subjects/delete', {
  auditAction: 'subject.deleteSeveral',
  body: z.strictObject({
    subjectIds: subjectIdList(subjectDeletionsMax),
    confirm: z.string().max(64),
  }),
  response: z.object({ records: z.array(deletionRecord), unknownIds: z.array(z.string()) }),
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { subjectIds, confirm } = call.body
    const expected = deletionConfirmation(subjectIds.length)
    if (confirm !== expected) throw invalidField('body.confirm', `must be: ${expected}`)
    const { projectId, galleryId, found } = await lockSubjects(tx, call, subjectIds)
    const listed = subjectIds.map((subjectId) => found.get(subjectId) ?? { subjectId })
    const first = await limitByMatches(tx, listed)
    const rows = first.flatMap(({ subjectId }) => found.get(subjectId) ?? [])
    const records = await mapSequential(rows, (row) => subjects.remove(tx, row))
    const unknownIds = first.flatMap(({ subjectId }) => (found.has(subjectId) ? [] : subjectId))
    return {
      response: { records, unknownIds },
      target: projectId,
      detail: {
        subjects: records.length,
        deletionIds: records.map(({ deletionId }) => deletionId),
      },
      afterCommit: () => maintenance.purge(galleryId),
    }
  },
})

/** Locks the gallery of the project in the path, and finds subjects of it. */
async function lockSubjects(tx: Tx, call: ConsoleContext, subjectIds: readonly string[]) {
  const { subjects } = call.services
  const { galleryId, projectId } = await requireProject(tx, call)
  await lockGallery(tx, galleryId, 'exclusive')
  const rows = await subjects.findByIds(tx, galleryId, subjectIds)
  const found = new Map<string, SubjectRow>(rows.map((row) => [row.subjectId, row]))
  return { projectId, galleryId, found }
}

/**
 * Makes a change that rolls back alone if it fails.
 *
 * @returns the message of an expected failure; undefined after a success.
 */
export async function refusalOf(tx: Tx, change: () => Promise<unknown>) {
  try {
    await tx.savepoint(change)
    return undefined
  } catch (error) {
    if (error instanceof ActionError) return error.message
    throw error
  }
}

/** One row of an imported list. An absent field stays as it is. */
const importRow = z
  .strictObject({
    subjectId: id.optional(),
    externalId: fields.externalId.optional(),
    displayName: fields.displayName.optional(),
    groups: fields.groups.optional().meta({ description: 'Replaces the groups of the subject.' }),
    attributes: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'A JSON merge patch.' }),
    expiresAtUtc: z.union([fields.expiresAtUtc, z.literal('never')]).optional(),
  })
  .refine(
    (row) => row.subjectId !== undefined || row.externalId !== undefined,
    'must contain a subjectId or an externalId',
  )

type ImportRow = z.output<typeof importRow>

const importResult = z.object({
  line: z.int(),
  result: z.enum(['updated', 'unchanged', 'unknown', 'refused']),
  subjectId: z.string().optional(),
  message: z.string().optional(),
})

/**
 * Updates existing subjects from rows of a list, each found by its subjectId, else by its externalId.
 * A row that cannot be applied changes nothing and is reported. No row creates a subject: that needs
 * a picture.
 */
export const importSubjects = defineWrite('/projects/:projectId/subjects/import', {
  auditAction: 'subject.import',
  body: z.strictObject({
    rows: z
      .array(z.strictObject({ line: z.int().min(1), values: z.record(z.string(), z.unknown()) }))
      .min(1)
      .max(subjectChangesMax, `must be a list of 1 to ${subjectChangesMax} rows`),
  }),
  response: z.object({ items: z.array(importResult) }),
  handle: async (call, { tx }) => {
    const { galleryId, projectId } = await requireProject(tx, call)
    await lockGallery(tx, galleryId, 'exclusive')
    const items = await mapSequential(call.body.rows, async ({ line, values }) => ({
      line,
      ...(await importOneRow(tx, { galleryId, values, call })),
    }))
    const updated = items.flatMap((item) => (item.result === 'updated' ? [item.subjectId] : []))
    const detail = { rows: items.length, subjects: updated.length, subjectIds: updated }
    return { response: { items }, target: projectId, detail }
  },
})

type RowToImport = {
  readonly galleryId: string
  readonly values: Readonly<Record<string, unknown>>
  readonly call: ConsoleContext
}

async function importOneRow(
  tx: Tx,
  { galleryId, values, call }: RowToImport,
): Promise<Omit<z.input<typeof importResult>, 'line'>> {
  const parsed = parseInput(importRow, values, 'row')
  if (!parsed.success) {
    const problems = parsed.problems.map(
      ({ path, rule }) => `${path.replace(/^row\.?/u, '')} ${rule}`,
    )
    return { result: 'refused', message: problems.join('; ').trim() }
  }
  const { subjects } = call.services
  const { data } = parsed
  const row = await subjects.find(tx, galleryId, subjectLookup(data))
  if (!row) return { result: 'unknown' }
  const { subjectId } = row
  const [details] = await subjects.loadDetails(tx, [row])
  const changes = changesOf(row, details?.groups ?? [], data)
  if (Object.keys(changes).length === 0) return { result: 'unchanged', subjectId }
  const message = await refusalOf(tx, () => subjects.update(tx, row, changes))
  return message === undefined
    ? { result: 'updated', subjectId }
    : { result: 'refused', subjectId, message }
}

/** Returns the fields in which the row differs from the subject. */
function changesOf(row: SubjectRow, groupsBefore: readonly string[], data: ImportRow) {
  const { externalId: newId, displayName: newName, attributes, expiresAtUtc: expiry } = data
  const newExpiry = expiry === 'never' ? null : expiry
  const newGroups = data.groups && new Set(data.groups)
  const addGroups = [...(newGroups?.difference(new Set(groupsBefore)) ?? [])]
  const removeGroups = newGroups ? groupsBefore.filter((name) => !newGroups.has(name)) : []
  return {
    ...(newId !== undefined && newId !== row.externalId && { externalId: newId }),
    ...(newName !== undefined && newName !== row.displayName && { displayName: newName }),
    ...(addGroups.length > 0 && { addGroups }),
    ...(removeGroups.length > 0 && { removeGroups }),
    ...(attributes && isAttributeChange(row, attributes) && { attributes }),
    ...(newExpiry !== undefined && isOtherTime(newExpiry, row) && { expiresAtUtc: newExpiry }),
  }
}

function isOtherTime(expiry: string | null, { expiresAtUtc: current }: SubjectRow): boolean {
  if (expiry === null || current === null) return expiry !== current
  return Date.parse(expiry) !== Date.parse(current)
}

function isAttributeChange(row: SubjectRow, patch: Readonly<Record<string, unknown>>): boolean {
  const current = new Map(Object.entries(JSON.parse(row.attributes) as Record<string, unknown>))
  return Object.entries(patch).some(([name, value]) =>
    value === null
      ? current.has(name)
      : JSON.stringify(current.get(name)) !== JSON.stringify(value),
  )
}
