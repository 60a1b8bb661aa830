import path from 'node:path'

export type SourceImport = { readonly target: string; readonly isTypeOnly: boolean }

/** File → the files that it imports, by paths from the root of the project. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

const importPattern =
  /(?:^|\n)\s*(import|export)\s+(type\s)?[^'"\n;]*?(?:\n[^'"\n]*?)*?from\s+['"]([^'"]+)['"]|import\s*\(?\s*['"]([^'"]+)['"]/gu

/** Returns what a source file imports or re-exports, statically or dynamically. */
export function importsOf(source: string): SourceImport[] {
  return [...source.matchAll(importPattern)].map(([, , type, from, dynamic]) => ({
    target: from ?? dynamic ?? '',
    isTypeOnly: type !== undefined,
  }))
}

/** Returns the path from the root of the project that a relative import of `file` refers to. */
export function resolveImport(file: string, target: string): string {
  return path.posix.join(path.posix.dirname(file), target)
}

/**
 * Returns the groups of files that import each other in a circle, each sorted by name (Tarjan's
 * strongly connected components of more than one file).
 */
export function findCycles(graph: ImportGraph): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return cycles.toSorted(([a = ''], [b = '']) => a.localeCompare(b))

  function visit(file: string): void {
    order.set(file, order.size)
    lowest.set(file, order.size - 1)
    stack.push(file)
    for (const imported of graph.get(file) ?? []) {
      if (!graph.has(imported)) continue
      if (!order.has(imported)) visit(imported)
      if (stack.includes(imported)) lower(file, lowest.get(imported) ?? 0)
    }
    if (lowest.get(file) !== order.get(file)) return
    const component = stack.splice(stack.indexOf(file))
    if (component.length > 1) cycles.push(component.toSorted())
  }

  function lower(file: string, value: number): void {
    lowest.set(file, Math.min(lowest.get(file) ?? value, value))
  }
}
