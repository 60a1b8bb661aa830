import { Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ReactNode } from 'react'

type Parts = ButtonProps & { readonly children: ReactNode }

/** A link that looks like a button. */
export const LinkButton = createLink((props: Parts) => <Button component="a" {...props} />)
