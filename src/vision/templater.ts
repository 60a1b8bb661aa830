import { cutChips } from './chips.ts'
import { describe } from './describe.ts'
import type { Descriptor, RecognizerSessions } from './describe.ts'
import type { Mesh } from './mesh.ts'
import type { Pyramid } from './pyramid.ts'
import type { Template } from './view.ts'

/** What becomes of a descriptor: the shipped model's `templateOf`, or what a script wants to see. */
export type ToTemplate = (descriptor: Descriptor) => Template

/** Makes templates of the faces of one frame. */
export type Templater = {
  readonly make: (mesh: Mesh) => Promise<Template>
  /** What all templates took up to now, ms. */
  readonly spentMs: () => Readonly<Record<'align' | 'embed', number>>
}

export function createTemplater(
  sessions: RecognizerSessions,
  pyramid: Pyramid,
  toTemplate: ToTemplate,
): Templater {
  const spentMs = { align: 0, embed: 0 }
  return {
    async make(mesh) {
      const startMs = performance.now()
      const chips = await cutChips(pyramid, mesh)
      const alignedMs = performance.now()
      const template = toTemplate(await describe(sessions, chips))
      spentMs.align += alignedMs - startMs
      spentMs.embed += performance.now() - alignedMs
      return template
    },
    spentMs: () => ({ ...spentMs }),
  }
}
