import path from 'node:path'

/** The folder of the repository; all files of the site are named from here. */
export const rootDir = path.join(import.meta.dirname, '..', '..')

/** Every page of the site, in the order of its navigation; the first is the front page. */
export const contents: readonly { readonly part: string; readonly files: readonly string[] }[] = [
  { part: 'Start', files: ['README.md', 'docs/tutorial.md', 'docs/troubleshooting.md'] },
  {
    part: 'Guides',
    files: [
      'docs/guides/door-entry.md',
      'docs/guides/attendance.md',
      'docs/guides/duplicate-search.md',
      'docs/guides/age-gate.md',
    ],
  },
  {
    part: 'Reference',
    files: [
      'docs/reference/actions.md',
      'docs/reference/errors.md',
      'docs/reference/permissions.md',
      'docs/configuration.md',
      'docs/reference/client.md',
      'client/README.md',
      'docs/reference/compreface.md',
    ],
  },
  {
    part: 'Operation',
    files: [
      'docs/operations/deployment.md',
      'docs/operations/sqlite-to-postgresql.md',
      'docs/security.md',
      'docs/privacy.md',
      'docs/operations/console.md',
      'docs/reference/gate.md',
      'docs/operations/observability.md',
      'docs/sizing.md',
      'docs/benchmarks.md',
    ],
  },
  {
    part: 'Faces and models',
    files: [
      'docs/accuracy.md',
      'docs/recognition/quality.md',
      'docs/liveness.md',
      'docs/recognition/search.md',
      'docs/models.md',
      'docs/recognition/model-packs.md',
      'docs/recognition/changing-models.md',
    ],
  },
  {
    part: 'Inside',
    files: ['docs/architecture.md', 'docs/dependencies.md', 'CHANGELOG.md'],
  },
]

export const pageFiles: readonly string[] = contents.flatMap(({ files }) => files)
