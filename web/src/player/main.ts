import { mount } from 'svelte';
import '../look/base.css';
import Listen from './Listen.svelte';

mount(Listen, { target: document.body });
