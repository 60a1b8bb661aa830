import { globSync } from 'node:fs'
import path from 'node:path'

/** Root of the repository. Page files are relative to it. */
export const rootDir = path.join(import.meta.dirname, '..', '..')

export type ContentsSection = { readonly title: string; readonly files: readonly string[] }

/** Every page of the site in the order of the navigation. The first one is the front page. */
export const contents: readonly ContentsSection[] = [
  {
    title: 'Start',
    files: [
      'README.md',
      'docs/tutorial.md',
      'docs/guides/tutorial-python.md',
      'docs/samples/README.md',
      'docs/faq.md',
      'docs/operations/troubleshooting.md',
      'docs/comparison.md',
    ],
  },
  {
    title: 'Guides',
    files: [
      'docs/guides/door-entry.md',
      'docs/guides/liveness-session.md',
      'docs/guides/attendance.md',
      'docs/guides/duplicate-search.md',
      'docs/guides/improve-a-gallery.md',
      'docs/guides/unknown-people.md',
      'docs/guides/age-gate.md',
      'docs/guides/home-assistant.md',
    ],
  },
  {
    title: 'Examples',
    files: [
      'examples/README.md',
      'examples/door/README.md',
      'examples/attendance/README.md',
      'examples/kiosk/README.md',
      'examples/frigate/README.md',
    ],
  },
  {
    title: 'Reference',
    files: [
      'docs/reference/actions.md',
      'docs/reference/request-formats.md',
      'docs/reference/liveness-sessions.md',
      'docs/reference/errors.md',
      'docs/reference/permissions.md',
      'docs/reference/webhooks.md',
      'docs/configuration.md',
      'docs/reference/cli.md',
      'docs/reference/client.md',
      'client/README.md',
      'clients/python/README.md',
      'docs/reference/compreface.md',
    ],
  },
  { title: 'Routes', files: routeFiles() },
  {
    title: 'Operation',
    files: [
      'docs/operations/production-checklist.md',
      'docs/operations/deployment.md',
      'docs/operations/upgrading.md',
      'docs/operations/sqlite-to-postgresql.md',
      'docs/operations/systemd.md',
      'docs/operations/several-databases.md',
      'docs/security.md',
      'docs/privacy.md',
      'docs/gdpr.md',
      'docs/operations/console.md',
      'docs/reference/gate.md',
      'docs/operations/observability.md',
      'docs/operations/sizing.md',
      'docs/benchmarks.md',
    ],
  },
  {
    title: 'Recognition',
    files: [
      'docs/accuracy.md',
      'docs/recognition/evaluation.md',
      'docs/recognition/calibration.md',
      'docs/recognition/gallery-health.md',
      'docs/recognition/feedback.md',
      'docs/recognition/quality.md',
      'docs/liveness.md',
      'docs/recognition/search.md',
      'docs/models.md',
      'docs/recognition/model-packs.md',
      'docs/recognition/changing-models.md',
    ],
  },
  {
    title: 'Development',
    files: [
      'CONTRIBUTING.md',
      'test/README.md',
      'test/nodes/README.md',
      'soak/README.md',
      'fuzz/README.md',
      'bench/README.md',
      'eval/README.md',
      'SECURITY.md',
      'docs/architecture.md',
      'docs/dependencies.md',
      'docs/releasing.md',
      'CHANGELOG.md',
    ],
  },
]

/** The generated pages of the routes; the overview first. */
function routeFiles(): string[] {
  const folder = 'docs/reference/routes'
  const files = globSync('**/*.md', { cwd: path.join(rootDir, folder) }).toSorted()
  return files.map((file) => `${folder}/${file}`)
}

export const pageFiles: readonly string[] = contents.flatMap(({ files }) => files)
