import assert from 'node:assert/strict'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { runJson } from '../cli/run-json.ts'
import { imageParams, type GalleryClient, type TestGallery } from './test-gallery.ts'

export type VisitorProject = Awaited<ReturnType<TestGallery['createProjectClient']>>

/** Creates a project with an empty gallery, which stores unknown people for these days, or `off`. */
export async function createVisitorProject(
  gallery: TestGallery,
  unknownPeople = '30',
  options: Partial<Parameters<TestGallery['createProjectClient']>[0]> = {},
): Promise<VisitorProject> {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', ...options })
  await setUnknownPeople(gallery, client, unknownPeople)
  return client
}

export const setUnknownPeople = (
  { dataDir }: TestGallery,
  { project: { projectId } }: VisitorProject,
  days: string,
) => runJson(dataDir, project, `set ${projectId} --unknown-people ${days}`)

export const takeOf = (name: string, take: number) => imageParams({ name, deviation: 0.3, take })

/** Searches for the people of a picture. @returns the visitor of each face. */
export async function identify(client: GalleryClient, picture: object, fields: object = {}) {
  const { faces } = await client.value('svc.identify', { ...picture, ...fields })
  return faces.map(({ visitorId }: { visitorId?: string }) => visitorId)
}

/** Searches for a person that is not enrolled. @returns the id of the visitor. */
export async function visit(client: GalleryClient, name: string, take = 0): Promise<string> {
  const [visitorId] = await identify(client, takeOf(name, take))
  assert.ok(visitorId, `${name} is a visitor`)
  return visitorId
}

export type ListedVisitor = {
  readonly visitorId: string
  readonly visitCount: number
  readonly embeddingCount: number
  readonly similarity?: number
}

export async function listVisitors(client: GalleryClient, query = ''): Promise<ListedVisitor[]> {
  const { status, body } = await client.rest('GET', `/v1/visitors${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.items
}
