import { contents } from './contents.ts'
import type { PageOutline } from './page-outline.ts'
import { pagePathOf } from './page-path.ts'

/**
 * Returns `llms.txt`: the list of all pages with their first sentences, for programs.
 *
 * @param root the address of the site, from where the list is served: `/docs/`, or empty within it.
 */
export function llmsText(outlines: ReadonlyMap<string, PageOutline>, root: string): string {
  const line = (file: string): string => {
    const { title = file, description = '' } = outlines.get(file) ?? {}
    return `- [${title}](${root}${pagePathOf(file)}): ${description}`
  }
  const sections = contents.map(({ title, files }) => [`## ${title}`, files.map(line).join('\n')])
  const [readme] = contents.flatMap(({ files }) => files)
  return `${[
    '# Facegate',
    `> ${outlines.get(readme ?? '')?.description}`,
    `The machine-readable description of the API is /v1/openapi.json.`,
    ...sections.flat(),
  ].join('\n\n')}\n`
}
