import { mount } from 'svelte';
import '../look/base.css';
import GoLive from './GoLive.svelte';

mount(GoLive, { target: document.body });
