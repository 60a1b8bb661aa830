import path from 'node:path'
import type { ImportGraph } from './imports.ts'

/** Files that compose the whole service: by their imports, every change would concern every test. */
const composing = /^(?:src\/(?:start\/|main\.ts|cli\/main\.ts)|test\/support\/)/u

/** Folders whose tests have another name. */
const testFolders: Readonly<Record<string, string>> = { web: 'console' }

/**
 * Returns the test files that changed files concern, the nearest first: changed tests, tests of the
 * same folder or of its folder in `test`, and tests that import a changed file, by the number of imports.
 *
 * @param changed paths from the root of the project.
 */
export function testsOfChange(changed: readonly string[], graph: ImportGraph): string[] {
  const tests = [...graph.keys()].filter((file) => file.endsWith('.test.ts'))
  const near = tests.filter((test) => changed.some((file) => isSameFolder(test, file)))
  return [...new Set([...tests.filter((test) => changed.includes(test)), ...near, ...importing()])]

  /** Returns the tests that import a changed file, in the order of a breadth-first search. */
  function importing(): string[] {
    const reached = new Set(changed)
    for (const imported of reached)
      for (const [file, targets] of graph)
        if (targets.includes(imported) && !composing.test(file)) reached.add(file)
    return tests.filter((test) => reached.has(test)).toSorted(inOrderOf([...reached]))
  }
}

function isSameFolder(test: string, file: string): boolean {
  const [root = '', folder = ''] = file.split('/')
  if (path.posix.dirname(test) === path.posix.dirname(file)) return true
  if (root === 'test') return false
  const name = root === 'src' ? folder : (testFolders[root] ?? root)
  return test.startsWith(`test/${name}/`)
}

const inOrderOf =
  (order: readonly string[]) =>
  (a: string, b: string): number =>
    order.indexOf(a) - order.indexOf(b)
