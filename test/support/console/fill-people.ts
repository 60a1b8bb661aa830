import type { Project } from '../../../src/store/tenancy/projects.ts'
import { embeddingOf, type FakePerson } from '../gallery/fake-vision.ts'
import { fillTemplates, type GalleryToFill } from '../gallery/fill-templates.ts'

/** The fake model of most tests. */
const fakeModelId = 'people@1'

type PeopleToFill = Pick<Project, 'projectId' | 'accountId'> & { readonly modelId?: string }

/**
 * Enrolls `person-0`, `person-1`, … in two groups, each with one template.
 *
 * @param more further subjects, by external id.
 */
export function fillPeople(
  gallery: GalleryToFill,
  { modelId = fakeModelId, ...owner }: PeopleToFill,
  people: { readonly count: number; readonly more?: Readonly<Record<string, FakePerson>> },
): Promise<void> {
  const numbered = Array.from({ length: people.count }, (_, number) => ({
    externalId: `person-${number}`,
    person: { name: `person ${number}` },
  }))
  const more = Object.entries(people.more ?? {}).map(([externalId, person]) => ({
    externalId,
    person,
  }))
  const subjects = [...numbered, ...more].map(({ externalId, person }, index) => ({
    externalId,
    groups: [index % 2 === 0 ? 'crew' : 'guests'],
    templates: [{ modelId, vector: embeddingOf(person, modelId), density: 0 }],
  }))
  return fillTemplates(gallery, owner, subjects)
}
