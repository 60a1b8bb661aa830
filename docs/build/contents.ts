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
      'docs/actions.md',
      'docs/errors.md',
      'docs/permissions.md',
      'docs/configuration.md',
      'docs/client.md',
      'client/README.md',
      'docs/compreface.md',
    ],
  },
  {
    part: 'Operation',
    files: [
      'docs/operations.md',
      'docs/migrate.md',
      'docs/security.md',
      'docs/privacy.md',
      'docs/console.md',
      'docs/gate.md',
      'docs/observability.md',
      'docs/sizing.md',
      'docs/benchmarks.md',
    ],
  },
  {
    part: 'Faces and models',
    files: [
      'docs/accuracy.md',
      'docs/quality.md',
      'docs/liveness.md',
      'docs/search.md',
      'docs/models.md',
      'docs/packs.md',
      'docs/models-change.md',
    ],
  },
  {
    part: 'Inside',
    files: ['docs/architecture.md', 'docs/dependencies.md', 'CHANGELOG.md'],
  },
]

export const pageFiles: readonly string[] = contents.flatMap(({ files }) => files)
