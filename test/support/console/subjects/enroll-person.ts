import type { FakePerson } from '../../gallery/fake-vision.ts'
import type { TestConsole } from '../test-console.ts'
import { personPicture } from './person-pictures.ts'

/** Enrolls drawn pictures as one subject, also pictures of different people. */
export async function enrollPerson(
  { gallery }: TestConsole,
  displayName: string,
  people: readonly FakePerson[],
): Promise<string> {
  let subjectId = ''
  for (const person of people) {
    const bytes = (await personPicture(person)).toString('base64')
    const images = [{ kind: 'image', contentType: 'image/jpeg', bytes }]
    const target = subjectId === '' ? { displayName } : { subjectId, force: true }
    const params = { images, duplicateCheck: 'off', ...target }
    subjectId = (await gallery.value('svc.enroll', params)).subjectId
  }
  return subjectId
}
