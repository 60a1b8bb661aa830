import { loadSubjectDetails } from '../../gallery/subjects.ts'
import { formatUtc } from '../../lib/clock.ts'
import { readSubjects } from '../../store/gallery/search/search-subjects.ts'
import { type CommandValues, formatTable, print, printRows } from '../command.ts'
import { requireSubject, withProject } from './find-subject.ts'

type SubjectListValues = CommandValues<'project', 'group' | 'text'> & { readonly limit: number }

export async function list({
  project,
  json,
  group,
  text,
  limit,
}: SubjectListValues): Promise<void> {
  const subjects = await withProject(project, (store, _project, galleryId) => {
    const unexpiredAtUtc = formatUtc(Date.now())
    const filter = { galleryId, group, text, limit, unexpiredAtUtc }
    return readSubjects(store, filter, loadSubjectDetails)
  })
  printRows(subjects, json, {
    subjectId: 'subjectId',
    externalId: 'externalId',
    name: 'displayName',
    faces: 'embeddingCount',
    groups: 'groups',
    created: 'createdAtUtc',
  })
}

type ShowValues = CommandValues<'project' | 'subject'>

export async function show({ project, subject, json }: ShowValues): Promise<void> {
  const shown = await withProject(project, (store, _project, galleryId) =>
    store.read(async (reading) => {
      const row = await requireSubject(reading, galleryId, subject)
      const [details] = await loadSubjectDetails(reading, [row])
      return { ...details, lastSeenAtUtc: row.lastSeenAtUtc }
    }),
  )
  const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const rows = Object.entries(shown).map(([field, value]) => [field, toText(value)])
  print(shown, json, () => formatTable(['field', 'value'], rows))
}
