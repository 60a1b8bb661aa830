import { deleteSubject } from '../../gallery/deletion/subject-deletion.ts'
import { type CommandValues, print } from '../command.ts'
import { changeGallery } from './change-gallery.ts'
import { requireSubject } from './find-subject.ts'

type RemoveValues = CommandValues<'project' | 'subject'>

export async function remove({ project, subject, json }: RemoveValues): Promise<void> {
  const record = await changeGallery(project, 'subject.delete', async ({ tx, ...context }) => {
    const row = await requireSubject(tx, context.galleryId, subject)
    const result = await deleteSubject(tx, row, context.nowUtc)
    return { result, target: row.subjectId, detail: { deletionId: result.deletionId } }
  })
  const { subjectId, embeddingCount, deletionId } = record
  const deleted = `deleted ${subjectId} with ${embeddingCount} templates`
  print(record, json, () => `${deleted}; deletion record ${deletionId}`)
}
