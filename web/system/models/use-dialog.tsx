import { SimpleGrid, Text } from '@mantine/core'
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
  const isOfRole = ({ roles }: ModelRow) => roles.includes(role)
  const before = models.filter((each) => isOfRole(each) && each.nextUse === 'active')
  const pack = packOf(model)
  const isWhole = role === 'liveness' || pack === 'builtin'
  const after = isWhole ? models.filter((each) => isOfRole(each) && packOf(each) === pack) : [model]
  return (
    <CommandDialog
      title={`Use ${isWhole ? pack : model.model} as ${role}`}
      submitLabel="Use after the next restart"
      command={{ command: 'use', target: isWhole ? pack : model.model, options: { role } }}
      mayChange
      size="xl"
      onClose={onClose}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Side title="Now selected" models={before} />
        <Side title="Selected then" models={after} />
      </SimpleGrid>
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

type SideProps = { readonly title: string; readonly models: readonly ModelRow[] }

function Side({ title, models }: SideProps) {
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
          <ModelFigures model={model} />
        </div>
      ))}
    </section>
  )
}
