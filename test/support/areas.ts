import { globSync } from 'node:fs'
import { rootDir } from './paths.ts'
import { runTogether } from './run-together.ts'

/** Folders whose test files share one process, except for the files with a process each. */
type Area = { readonly folders: readonly string[]; readonly separate?: readonly string[] }

/**
 * Test files of one area share a process, because loading the modules of the service takes more
 * processor time than most of them. Files that measure memory or run for long have a process each.
 */
const areas = {
  actions: { folders: ['test/actions'] },
  browser: { folders: ['test/console/browser'], separate: ['first-use', 'working-day'] },
  clients: { folders: ['test/cli', 'test/client', 'test/compreface'] },
  console: { folders: ['test/console'], separate: ['browser/**/*', 'auth/sign-in-throttle'] },
  gallery: {
    folders: ['test/gallery'],
    separate: [
      'accuracy',
      'crash',
      'models/real-model-change',
      'models/two-recognizers',
      'search/database-maintenance',
    ],
  },
  gate: { folders: ['test/billing', 'test/gate'], separate: ['crash'] },
  http: { folders: ['test/http'], separate: ['hostile-input', 'body-budget'] },
  liveness: {
    folders: ['test/liveness'],
    separate: ['camera-component', 'camera-problems', 'crash'],
  },
  models: { folders: ['test/models'] },
  nodes: {
    folders: ['test/nodes'],
    separate: ['faults/killed-database', 'gallery', 'rate-limit', 'rolling-restart'],
  },
  operations: {
    folders: ['test/deploy', 'test/operations', 'test/telemetry', 'test/webhooks'],
    separate: ['sqlite-to-postgres'],
  },
  postgres: {
    folders: ['test/postgres'],
    separate: ['calls', 'console', 'crashes', 'gallery'],
  },
  store: { folders: ['test/store'] },
  units: { folders: ['src'], separate: ['vision/workers/worker'] },
  vision: {
    folders: ['test/evaluation', 'test/vision'],
    separate: ['workers/pool-crashes', 'workers/service-workers'],
  },
} as const satisfies Readonly<Record<string, Area>>

/** Returns the test files that share the process of an area, from the root of the project. */
function filesOf({ folders, separate = [] }: Area): string[] {
  return folders.flatMap((folder) => {
    const exclude = separate.map((file) => `${folder}/${file}.test.ts`)
    return globSync(`${folder}/**/*.test.ts`, { cwd: rootDir, exclude }).sort()
  })
}

/** Runs the test files of an area in this process. */
export function runArea(name: keyof typeof areas): void {
  runTogether(filesOf(areas[name]))
}

/** What runs for minutes, longest first: it starts first, so that no process runs alone at the end. */
const longest = [
  'test/areas/browser.ts',
  'test/areas/nodes.ts',
  'test/gallery/accuracy.test.ts',
  'test/console/browser/first-use.test.ts',
  'test/areas/vision.ts',
  'test/postgres/calls.test.ts',
  'test/pgvector/gallery.test.ts',
  'test/console/browser/working-day.test.ts',
  'test/liveness/camera-component.test.ts',
  'test/postgres/gallery.test.ts',
  'test/areas/gallery.ts',
  'test/areas/clients.ts',
  'test/areas/postgres.ts',
  'test/areas/gate.ts',
  'test/docs/site.test.ts',
  'test/docs/code-blocks.test.ts',
  'test/areas/operations.ts',
  'test/nodes/gallery.test.ts',
  'test/postgres/crashes.test.ts',
  'test/postgres/console.test.ts',
  'test/areas/actions.ts',
  'test/areas/models.ts',
  'test/areas/http.ts',
  'test/gate/crash.test.ts',
]

/**
 * Returns what `npm test` runs: the areas, and each test file that belongs to none. The slow tests of
 * `test/packaging` have a command for themselves.
 */
export function allTestFiles(): string[] {
  const shared = new Set(Object.values<Area>(areas).flatMap(filesOf))
  const all = globSync(['test/**/*.test.ts', 'src/**/*.test.ts'], {
    cwd: rootDir,
    exclude: ['test/packaging/**'],
  })
  const separate = all.filter((file) => !shared.has(file)).sort()
  const names = [...Object.keys(areas).map((name) => `test/areas/${name}.ts`), ...separate]
  const first = longest.filter((name) => names.includes(name))
  return [...first, ...names.filter((name) => !first.includes(name))]
}
