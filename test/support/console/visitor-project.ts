import { setUnknownPeople } from '../gallery/visitors.ts'
import { assertOk, type TestConsole } from './test-console.ts'

/** Creates a project of the owner that stores unknown people, with further switches. */
export async function createOwnedVisitorProject(testConsole: TestConsole, switches: object = {}) {
  const { gallery, owner, projectId } = testConsole
  const account = await gallery.database.store.db
    .selectFrom('projects')
    .select('accountId')
    .where('projectId', '=', projectId)
    .executeTakeFirstOrThrow()
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', ...account })
  await setUnknownPeople(gallery, client, '30')
  const path = `/projects/${client.project.projectId}`
  if (Object.keys(switches).length > 0) assertOk(await owner.send('PATCH', path, { switches }))
  return { client, path }
}
