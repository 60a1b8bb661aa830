import { Checkbox, SimpleGrid, Text } from '@mantine/core'
import { useState } from 'react'
import { CommandDialog } from './command-dialog.tsx'
import { ModelFigures } from './model-card.tsx'
import { packOf, type ModelRow } from './model-rows.ts'

type Props = {
  readonly model: ModelRow
  readonly role: string
  readonly models: readonly ModelRow[]
  readonly onClose: () => void
}

/** Compares a network with the one in use, then selects it. All liveness networks of a pack are used. */
export function UseDialog({ model, role, models, onClose }: Props) {
  const [isCombined, setIsCombined] = useState(false)
  const isOfRole = ({ roles }: ModelRow) => roles.includes(role)
  const before = models.filter((each) => isOfRole(each) && each.nextUse === 'active')
  const others = otherTasks(before, role)
  const pack = packOf(model)
  const isWhole = role === 'liveness' || pack === 'builtin'
  const ofPack = (name: string) => models.filter((each) => isOfRole(each) && packOf(each) === name)
  const selected = isWhole ? ofPack(pack) : [model]
  const after = isCombined ? [...ofPack('builtin'), ...selected] : selected
  const target = `${isCombined ? 'builtin+' : ''}${isWhole ? pack : model.model}`
  return (
    <CommandDialog
      title={`Use ${isWhole ? pack : model.model} as ${role}`}
      submitLabel="Use after the next restart"
      command={{ command: 'use', target, options: { role } }}
      mayChange
      size="xl"
      onClose={onClose}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Side title="Now selected" models={before} others={others} />
        <Side title="Selected then" models={after} />
      </SimpleGrid>
      {role === 'recognizer' && pack !== 'builtin' && (
        <Checkbox
          label="Together with the built-in recognizer"
          description="Adds the scores of both. The pack needs a similarity table for both."
          checked={isCombined}
          onChange={(event) => setIsCombined(event.currentTarget.checked)}
        />
      )}
      {role === 'recognizer' && (
        <Text size="sm">
          Templates of two recognizers are never compared. The present one stays loaded for the
          people enrolled with it. After the restart, templates are created from stored crops in the
          background; people without a crop need a new enrollment or a verification.
        </Text>
      )}
      <Text size="sm" c="dimmed">
        Figures of different pictures cannot be compared. Figures with a command can be repeated.
      </Text>
    </CommandDialog>
  )
}

/**
 * Returns the other tasks of networks that are in use for them only: a pack is used for the role if a
 * network that has no other task is.
 */
function otherTasks(models: readonly ModelRow[], role: string): ReadonlyMap<ModelRow, string> {
  const othersOf = ({ roles }: ModelRow) => roles.filter((each) => each !== role)
  const packs = new Set(models.filter((each) => othersOf(each).length === 0).map(packOf))
  const others = packs.size === 0 ? [] : models.filter((each) => !packs.has(packOf(each)))
  return new Map(others.map((each) => [each, othersOf(each).join(' and ')]))
}

type SideProps = {
  readonly title: string
  readonly models: readonly ModelRow[]
  /** The tasks of networks that are not used for the role. */
  readonly others?: ReadonlyMap<ModelRow, string>
}

function Side({ title, models, others }: SideProps) {
  return (
    <section aria-label={title}>
      <div className="fg-caption">{title}</div>
      {models.map((model) => (
        <div key={model.model}>
          <Text size="sm" fw={600} className="fg-mono">
            {model.model}
          </Text>
          <Text size="xs" c="dimmed">
            {model.licence}; commercial use: {model.commercialUse}
          </Text>
          {others?.has(model) && <Text size="xs">in use for {others.get(model)} only</Text>}
          <ModelFigures model={model} />
        </div>
      ))}
    </section>
  )
}
