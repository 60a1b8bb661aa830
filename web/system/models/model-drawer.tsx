import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { CommandDialog } from './command-dialog.tsx'
import { ModelCard } from './model-card.tsx'
import { isInUse, isPartOfTwo, packOf, selectableRoles, type ModelRow } from './model-rows.ts'
import { UseDialog } from './use-dialog.tsx'

type Props = {
  readonly model: ModelRow
  readonly models: readonly ModelRow[]
  readonly mayChange: boolean
  readonly onInstall: (pack: string) => void
  readonly onClose: () => void
}

/** The card of a network, and what an owner can do with it. */
export function ModelDrawer({ model, models, mayChange, onInstall, onClose }: Props) {
  const [usedRole, setUsedRole] = useState<string>()
  const [isRemoving, setIsRemoving] = useState(false)
  const pack = packOf(model)
  const isPackInUse = models.some((each) => packOf(each) === pack && isInUse(each))
  const usable = model.roles.filter((role) => selectableRoles.includes(role))
  return (
    <DetailDrawer title={model.model} onClose={onClose}>
      <ModelCard model={model} />
      <Group gap="xs">
        {model.state === 'available' && (
          <Button size="xs" onClick={() => onInstall(pack)}>
            Install {pack}
          </Button>
        )}
        {mayChange &&
          model.state !== 'available' &&
          (model.nextUse !== 'active' || isPartOfTwo(model, models)) &&
          usable.map((role) => (
            <Button key={role} size="xs" onClick={() => setUsedRole(role)}>
              Use as {role}
            </Button>
          ))}
        {mayChange && model.state === 'installed' && (
          <>
            <Button size="xs" variant="default" onClick={() => onInstall(pack)}>
              {model.isOutdated ? 'Update' : 'Install again'}
            </Button>
            <Button
              size="xs"
              variant="default"
              disabled={isPackInUse}
              title={isPackInUse ? 'The pack is in use' : undefined}
              onClick={() => setIsRemoving(true)}
            >
              Remove {pack}
            </Button>
          </>
        )}
      </Group>
      {usedRole !== undefined && (
        <UseDialog
          model={model}
          role={usedRole}
          models={models}
          onClose={() => setUsedRole(undefined)}
        />
      )}
      {isRemoving && (
        <CommandDialog
          title={`Remove ${pack}`}
          submitLabel="Remove"
          isDangerous
          command={{ command: 'remove', target: pack }}
          mayChange={mayChange}
          onClose={onClose}
        >
          The files of the pack are deleted, with its similarity table. It can be installed again.
        </CommandDialog>
      )}
    </DetailDrawer>
  )
}
