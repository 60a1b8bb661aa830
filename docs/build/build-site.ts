import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { build } from 'vite'
import { pageFiles, rootDir } from './contents.ts'
import { llmsText } from './llms-text.ts'
import { parseOutline, type PageOutline } from './page-outline.ts'
import { pagePathOf } from './page-path.ts'
import { renderHtml } from './render-html.ts'
import { renderPage } from './render-page.ts'
import { readSamplePictures } from './sample-pictures.ts'
import { searchIndex } from './search-index.ts'

/**
 * Writes the site: HTML pages, one style sheet, one script and the index of the search, without
 * external resources. Every web server can serve it. Browsers can also open it from the disk, then
 * without the search.
 *
 * @param folder the target folder. Its content is deleted first.
 * @returns the outlines of all pages by file.
 */
export async function buildSite(folder: string): Promise<ReadonlyMap<string, PageOutline>> {
  const texts = await Promise.all(
    pageFiles.map(async (file) => [file, await readPage(file)] as const),
  )
  const outlines = new Map(texts.map(([file, text]) => [file, parseOutline(text)]))
  await rm(folder, { recursive: true, force: true })
  const write = async (target: string, content: string | Buffer): Promise<void> => {
    const file = path.join(folder, target)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  const titles = Object.fromEntries([...outlines].map(([file, { title }]) => [file, title]))
  for (const [file, text] of texts) {
    const headings = outlines.get(file)?.sections ?? []
    const page = renderPage({ file, titles, headings, body: renderHtml(file, text) })
    await write(pagePathOf(file), page)
  }
  await write('llms.txt', llmsText(outlines, ''))
  await write('search-index.json', searchIndex(outlines))
  for (const [name, bytes] of await readSamplePictures()) await write(`samples/${name}`, bytes)
  await cp(path.join(import.meta.dirname, 'style.css'), path.join(folder, 'style.css'))
  await cp(path.join(rootDir, 'docs', 'pictures'), path.join(folder, 'pictures'), {
    recursive: true,
  })
  await buildScript(folder)
  return outlines
}

/** Reads a page without the notice of generated pages, which is for their editors. */
async function readPage(file: string): Promise<string> {
  const text = await readFile(path.join(rootDir, file), 'utf8')
  return text.replace(/^Generated from .*; do not edit\.$/mu, '')
}

/** Bundles the script of the pages as one file that is no module, which also runs from the disk. */
async function buildScript(folder: string): Promise<void> {
  await build({
    configFile: false,
    root: import.meta.dirname,
    publicDir: false,
    logLevel: 'warn',
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      lib: {
        entry: path.join(import.meta.dirname, 'browser', 'site.ts'),
        formats: ['iife'],
        name: 'facegateSite',
        fileName: () => 'site.js',
      },
    },
  })
}
